"""The sources of the dashboard's events: an engine of its own, an engine elsewhere, or the replay of a recording.

Each feed has its own thread and delivers its events in batches, at most ten a second.
"""

from chordless.tui.feeds.feed import Batch, EngineFeed, Feed, FollowFeed
from chordless.tui.feeds.replay import ReplayFeed

__all__ = ["Batch", "EngineFeed", "Feed", "FollowFeed", "ReplayFeed"]
