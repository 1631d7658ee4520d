"""The job queue: a Postgres table, claimed with SKIP LOCKED."""

import random

MAX_ATTEMPTS = 8
CLAIM_SECONDS = 60

CLAIM = """
WITH next AS (
  SELECT id FROM job
  WHERE run_at <= now() AND (claimed_until IS NULL OR claimed_until < now())
  ORDER BY run_at
  FOR UPDATE SKIP LOCKED
  LIMIT %s
)
UPDATE job SET claimed_until = now() + make_interval(secs => %s), attempts = attempts + 1
FROM next WHERE job.id = next.id RETURNING job.*
"""


def enqueue(conn, kind, payload, key):
    """Write a job in the caller's transaction: it exists if and only if the booking does."""
    conn.execute(
        "INSERT INTO job (kind, payload, key) VALUES (%s, %s, %s) ON CONFLICT (key) DO NOTHING",
        (kind, payload, key),
    )


def claim(conn, n=10):
    """Take up to *n* jobs. Commits at once, so that slow work holds no lock."""
    jobs = conn.execute(CLAIM, (n, CLAIM_SECONDS)).fetchall()
    conn.commit()
    return jobs


def backoff_seconds(attempts):
    """How long to wait after a failure: exponential with full jitter, at most ten minutes."""
    return random.uniform(0, min(600, 2 * 2**attempts))
