"""The dashboard in a browser: the server, its access control, and its page.

Only this room loads textual-serve and aiohttp. It starts dashboards as processes and imports none of their code.
"""
