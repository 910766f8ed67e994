"""PostgreSQL and Redis for tests, where they are installed."""

import os
import shutil
import socket
import subprocess
import tempfile
import time
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
    port = _free_port()

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


@pytest.fixture(scope="session")
def redis_url() -> Iterator[str]:
    """A throw-away Redis on loopback, or the one of K3TRIAGE_TEST_REDIS."""
    given = os.environ.get("K3TRIAGE_TEST_REDIS")
    if given:
        yield given
        return
    program = shutil.which("redis-server")
    if program is None:
        pytest.skip("Redis is not installed")
    port = _free_port()
    server = subprocess.Popen(
        [program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", tempfile.gettempdir()],
        stdout=subprocess.DEVNULL,
    )
    try:
        while server.poll() is None:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        server.terminate()
        server.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def new_database(base: str) -> str:
    """The address of an empty database on the server at `base`."""
    name = f"t{os.urandom(6).hex()}"
    engine = create_engine(make_url(base).set(drivername="postgresql+psycopg"), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(f"create database {name}"))
    engine.dispose()
    return make_url(base).set(database=name).render_as_string(hide_password=False)
