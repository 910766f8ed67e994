"""The schema, its migrations and the stores."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from bot.errors import StoreError
from bot.store import Database, Evidence, IncidentStore, ReplyStore
from bot.store.schema import metadata


def _open(database: Database, thread: str = "1.0", author: str = "U1") -> str:
    with database.write() as connection:
        return IncidentStore(database).open_in(
            connection, team="T", channel="C", thread_ts=thread, author=author, via="mention", now=1.0
        )


def test_migrations_when_run_then_they_make_the_schema(database: Database) -> None:
    with database.read() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []


def test_open_when_many_processes_start_at_once_then_all_succeed(url: str) -> None:
    with ThreadPoolExecutor(4) as pool:
        opened = list(pool.map(lambda _: Database(url), range(4)))
    assert len({one.salt() for one in opened}) == 1
    for one in opened:
        one.close()


def test_open_when_it_cannot_be_then_a_sentence_without_the_password() -> None:
    with pytest.raises(StoreError) as caught:
        Database("postgresql://k3:hunter22@127.0.0.1:1/none")
    assert "hunter22" not in str(caught.value)
    assert "K3TRIAGE_DATABASE_URL" in str(caught.value)


def test_open_in_when_thread_is_known_then_the_same_incident(database: Database) -> None:
    assert _open(database) == _open(database, author="U2")
    assert _open(database) != _open(database, thread="2.0")
    found = IncidentStore(database).find("C", "1.0")
    assert found is not None
    assert found.author == "U1"


def test_put_evidence_when_given_again_then_only_changes_count(database: Database) -> None:
    store = IncidentStore(database)
    incident = _open(database)
    item = Evidence("1.0", "U1", "line\x00", "words", ({"id": "F1"},))
    assert store.put_evidence(incident, item, 1.0) is True
    assert store.put_evidence(incident, item, 2.0) is False
    assert store.put_evidence(incident, Evidence("1.0", "U1", "other", "", ()), 3.0) is True
    assert [one.log for one in store.evidence(incident)] == ["other"]
    assert store.evidence_owner("C", "1.0") == (incident, "U1")


def test_tick_when_two_people_tick_then_the_first_is_kept(database: Database) -> None:
    store = IncidentStore(database)
    incident = _open(database)
    store.tick(incident, ["a", "b"], [], "U1", 1.0)
    store.tick(incident, ["a"], ["b"], "U2", 2.0)
    assert store.ticked(incident) == {"a": ("U1", 1.0)}


def test_delete_then_nothing_of_the_incident_is_left(database: Database) -> None:
    store, replies = IncidentStore(database), ReplyStore(database)
    incident = _open(database)
    store.put_evidence(incident, Evidence("1.0", "U1", "log", "", ()), 1.0)
    store.tick(incident, ["a"], [], "U1", 1.0)
    store.note(incident, "opened", "U1", 1.0)
    replies.begin(f"{incident}:answer", incident, "C", "1.0", 1.0)
    store.delete(incident)
    assert store.get(incident) is None
    with database.read() as connection:
        for table in metadata.sorted_tables:
            assert connection.execute(table.select()).first() is None, table.name


def test_reply_when_begun_then_it_is_known_before_it_is_posted(database: Database) -> None:
    replies = ReplyStore(database)
    assert replies.get("i:answer") is None
    replies.begin("i:answer", "i", "C", "1.0", 5.0)
    begun = replies.get("i:answer")
    assert begun is not None
    assert begun.ts is None
    replies.posted("i:answer", "2.0", "digest")
    posted = replies.get("i:answer")
    assert posted is not None
    assert (posted.ts, posted.digest) == ("2.0", "digest")
