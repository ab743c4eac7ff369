"""How a user names a cluster."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kernels_ti.errors import OptionError, parameter

LOCAL = re.compile(r"local(?::([1-9][0-9]{0,3}))?")
ADDRESS = re.compile(r"(tcp|tls|ucx|ws|wss)://\S+")


def check_cluster(where: str, gpus: Sequence[int] | None) -> None:
    """Raise OptionError unless `where` names a cluster.

    That is ``local``, ``local:N``, the address of a scheduler such as ``tcp://host:8786``, or a scheduler file
    ``*.json``. GPUs are only for ``local`` without a number of workers.
    """
    local = LOCAL.fullmatch(where)
    if not local and not ADDRESS.fullmatch(where) and not where.endswith(".json"):
        raise OptionError(
            f"there is no cluster {where!r}: give local, local:4, tcp://HOST:8786 or the scheduler's file FILE.json"
        )
    if gpus is not None and (not local or local[1]):
        raise OptionError(
            f"{parameter('gpus')} chooses from this machine's GPUs: it needs {parameter('cluster', 'local')}"
        )
    if gpus is not None and (not gpus or len(set(gpus)) < len(gpus) or min(gpus) < 0):
        raise OptionError(f"{parameter('gpus')} needs different numbers of GPUs, such as 0,2")
