"""PostgreSQL for tests, where it is installed."""

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from glob import glob
from pathlib import Path

import pytest
from sqlalchemy import create_engine, make_url, text


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """A throw-away PostgreSQL on loopback, or the one of K3TRIAGE_TEST_POSTGRES."""
    given = os.environ.get("K3TRIAGE_TEST_POSTGRES")
    if given:
        yield given
        return
    found = glob("/usr/lib/postgresql/*/bin/initdb") or [path for path in [shutil.which("initdb")] if path]
    if not found:
        pytest.skip("PostgreSQL is not installed")
    binaries = Path(os.path.realpath(found[-1])).parent
    base = tempfile.mkdtemp(prefix="k3pg")
    as_user = []
    if os.geteuid() == 0:
        shutil.chown(base, "postgres")
        as_user = ["runuser", "-u", "postgres", "--"]
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]

    def run(*command: object) -> None:
        quiet = subprocess.DEVNULL
        subprocess.run([*as_user, *map(str, command)], check=True, stdout=quiet, stderr=quiet, cwd=base)

    run(binaries / "initdb", "-D", f"{base}/data", "-A", "trust", "-U", "k3", "-N")
    options = f"-p {port} -c listen_addresses=127.0.0.1 -c fsync=off -c unix_socket_directories={base}"
    control = [binaries / "pg_ctl", "-D", f"{base}/data"]
    run(*control, "-o", options, "-l", f"{base}/log", "-w", "start")
    try:
        yield f"postgresql://k3@127.0.0.1:{port}/postgres"
    finally:
        run(*control, "-m", "immediate", "stop")
        shutil.rmtree(base, ignore_errors=True)


def new_database(base: str) -> str:
    """The address of an empty database on the server at `base`."""
    name = f"t{os.urandom(6).hex()}"
    engine = create_engine(make_url(base).set(drivername="postgresql+psycopg"), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(f"create database {name}"))
    engine.dispose()
    return make_url(base).set(database=name).render_as_string(hide_password=False)
