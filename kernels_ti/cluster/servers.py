"""Dask's scheduler and worker as a local cluster runs them: behind certificates made for the run, without web pages.

A port of this machine can be reached by all of its users, and a Dask server runs whatever it is sent. So every port
asks for a certificate, and Dask's pages, which ask for nothing, are left out.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from distributed import Scheduler, SpecCluster, Worker
from distributed.security import Security

from kernels_ti.errors import EngineError, OptionError

THIS_MACHINE = "127.0.0.1"


class LocalScheduler(Scheduler):
    """A scheduler without web pages."""

    def start_http_server(self, *_: Any, **__: Any) -> None:
        """Do nothing: the pages would be open to every user of the machine."""


class LocalWorker(Worker):
    """A worker without web pages."""

    def start_http_server(self, *_: Any, **__: Any) -> None:
        """Do nothing: the pages would be open to every user of the machine."""


def new_security() -> Security:
    """Make a key and a certificate in memory. An OptionError is raised if `cryptography` is not installed."""
    untyped: Any = Security
    try:
        security: Security = untyped.temporary()
    except ImportError as error:
        raise OptionError("a local cluster needs certificates: pip install 'chordless[cluster]'") from error
    return security


@contextmanager
def local_scheduler(security: Security) -> Iterator[str]:
    """Run a scheduler in this process, which only holders of the key can reach; yield its address.

    An EngineError says that it cannot start.
    """
    untyped: Any = SpecCluster
    options = {"host": THIS_MACHINE, "port": 0, "protocol": "tls", "dashboard": False, "security": security}
    try:
        cluster = untyped(
            workers={},
            scheduler={"cls": LocalScheduler, "options": options},
            security=security,
            silence_logs=logging.CRITICAL,
            asynchronous=False,
        )
    except (RuntimeError, OSError) as error:
        raise EngineError(f"cannot start the scheduler of a local cluster: {error.__cause__ or error}") from error
    with cluster:
        yield cluster.scheduler_address


def invitation(address: str, security: Any) -> str:
    """Return the address and keys that a worker needs to reach a scheduler, as a line of JSON."""
    return json.dumps({"address": address, "certificate": security.tls_ca_file, "key": security.tls_worker_key})


def invited_worker(text: str, **options: Any) -> LocalWorker:
    """Make the worker that an `invitation` invites; `options` are those of `distributed.Worker`."""
    invited = json.loads(text)
    certificate, key = invited["certificate"], invited["key"]
    untyped_security: Any = Security
    security = untyped_security(
        require_encryption=True, tls_ca_file=certificate, tls_worker_cert=certificate, tls_worker_key=key
    )
    untyped_worker: Any = LocalWorker
    worker: LocalWorker = untyped_worker(
        invited["address"], host=THIS_MACHINE, protocol="tls", security=security, dashboard=False, **options
    )
    return worker
