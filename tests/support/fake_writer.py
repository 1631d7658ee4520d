"""A writer that writes nothing but speaks the protocol: `python fake_writer.py FOLDER`.

Its generation lies in FOLDER/generation, so that whoever stands in for the index can follow. What
it does with a request is chosen by the request's own words:

* ``Save``: summary "die" ends the process before it answers; "refuse:KIND" fails with that error;
  anything else is saved.
* ``ImportPath``: path "/slow" sends progress until it is cancelled, "/stuck" commits once and then
  says nothing; both commit when they are cancelled. Anything else ends at once with the file's size
  as ``bytes_seen``.
* the environment's FAKE_WRITER: "silent" never gets ready, "broken" says nonsense, "deaf" stays
  when its input ends, "fails" ends at once.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from pathlib import Path

from twolaned.model.report import ImportReport
from twolaned.model.row import Quality
from twolaned.writer.protocol import (
    AddSource,
    Cancel,
    Cancelled,
    Committed,
    Done,
    Event,
    Failed,
    Imported,
    ImportPath,
    Progress,
    Ready,
    RemoveSource,
    Save,
    Saved,
    ScanSources,
    SourceAdded,
    SourceRemoved,
    frame,
    read_request,
)

Body = Ready | Committed | Progress | Done | Failed
FOLDER = Path(sys.argv[1])
MODE = os.environ.get("FAKE_WRITER", "")
PROGRESS_SECONDS = 0.005

stopped: dict[int, threading.Event] = {}
lock, committing = threading.Lock(), threading.Lock()
generation = 0


def send(number: int, body: Body) -> None:
    with lock:
        sys.stdout.buffer.write(frame(Event(number, body)))
        sys.stdout.buffer.flush()


def commit() -> int:
    global generation
    with committing:
        generation += 1
        new = FOLDER / "generation.new"
        new.write_text(str(generation))
        new.replace(FOLDER / "generation")
        send(0, Committed(generation))
        return generation


def save(number: int, command: Save) -> None:
    if command.summary == "die":
        os._exit(3)
    if command.summary.startswith("refuse:"):
        kind = command.summary.partition(":")[2]
        send(number, Failed(kind, "WHY", f"It is a {kind}.", "summary", {"what": "that"}))
        return
    saved = Saved(id=f"save:{command.source}", outcome="created", quality=Quality.MEDIUM)
    send(number, Done(saved, commit()))


def bulk(number: int, path: str) -> None:
    report = ImportReport(provider="fake")
    if path in ("/slow", "/stuck"):
        if path == "/stuck":
            commit()
        while not stopped[number].wait(PROGRESS_SECONDS):
            report.bytes_seen += 1
            if path == "/slow":
                send(number, Progress(report, "source"))
        send(number, Done(Cancelled(), commit()))
        return
    report.bytes_seen = Path(path).stat().st_size if path else 0
    report.rows_new = 1
    send(number, Done(Imported(report), commit()))


def serve() -> None:
    (FOLDER / "arguments").write_text("\n".join(sys.argv[1:]))
    (FOLDER / "pid").write_text(str(os.getpid()))
    sys.stderr.write("writer: INFO hello\n")
    sys.stderr.flush()
    send(0, Ready(generation))
    while (request := read_request(sys.stdin.buffer)) is not None:
        number = request.number
        match request.command:
            case Save() as command:
                save(number, command)
            case ImportPath(path=path):
                stopped[number] = threading.Event()
                threading.Thread(target=bulk, args=(number, path), daemon=True).start()
            case ScanSources(ids=ids):
                stopped[number] = threading.Event()
                path = ids[0] if ids else ""
                threading.Thread(target=bulk, args=(number, path), daemon=True).start()
            case AddSource(source=source):
                send(number, Done(SourceAdded(source), commit()))
            case RemoveSource():
                send(number, Done(SourceRemoved(2), commit()))
            case Cancel(request=victim):
                stopped.get(victim, threading.Event()).set()
                send(number, Done(Cancelled(), generation))


if __name__ == "__main__":
    if MODE == "fails":
        sys.stderr.write("Traceback: it cannot start\n")
        sys.exit(1)
    if MODE == "broken":
        sys.stdout.write("nonsense" * 100)
        sys.stdout.flush()
    if MODE in ("silent", "broken"):
        sys.stdin.buffer.read()
    else:
        serve()
    if MODE == "deaf":
        time.sleep(600)
