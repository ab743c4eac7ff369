"""Where the dashboard's events come from: an engine of its own, the recording of one elsewhere, a replay.

Each feed works in a thread of its own and hands over its events in batches, at most ten a second.
"""

from chordless.tui.feeds.engine import EngineFeed
from chordless.tui.feeds.feed import Batch, Feed
from chordless.tui.feeds.follow import FollowFeed
from chordless.tui.feeds.replay import ReplayFeed

__all__ = ["Batch", "EngineFeed", "Feed", "FollowFeed", "ReplayFeed"]
