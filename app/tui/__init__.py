"""The dashboard: a Textual app that starts, follows, replays and compares runs. It never imports Taichi."""
