from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from twolaned.embedding.breaker import BreakerSettings, CircuitBreaker, CircuitState, Permit
from twolaned.model.embedding import EmbeddingFailure, FailureReason

DOWN = EmbeddingFailure(FailureReason.PROVIDER_UNREACHABLE, "down")
SETTINGS = BreakerSettings(failures=3, cool_down=10.0, longest=35.0)


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def permit(breaker: CircuitBreaker) -> Permit:
    given = breaker.acquire()
    assert given is not None
    return given


def opened(clock: Clock) -> CircuitBreaker:
    breaker = CircuitBreaker(SETTINGS, clock)
    for _ in range(3):
        permit(breaker).failure(DOWN)
    return breaker


def test_it_opens_after_failures_in_a_row() -> None:
    """A success in between starts the count again."""
    breaker = CircuitBreaker(SETTINGS, Clock())
    for outcome in ("failure", "failure", "success", "failure", "failure"):
        one = permit(breaker)
        one.success() if outcome == "success" else one.failure(DOWN)
    assert CircuitState.CLOSED == breaker.state

    permit(breaker).failure(DOWN)

    assert (CircuitState.OPEN, DOWN, 10.0) == (breaker.state, breaker.cause, breaker.retry_in)
    assert None is breaker.acquire()


def test_one_probe_is_let_through_after_the_cool_down() -> None:
    """Nobody else until it is back."""
    clock = Clock()
    breaker = opened(clock)
    clock.now += 10.0

    probe = permit(breaker)

    assert CircuitState.HALF_OPEN == breaker.state
    assert None is breaker.acquire()
    probe.success()
    assert (CircuitState.CLOSED, None, 0.0) == (breaker.state, breaker.cause, breaker.retry_in)


def test_a_probe_that_fails_doubles_the_cool_down() -> None:
    """Up to a limit; a success brings the first one back."""
    clock = Clock()
    breaker = opened(clock)
    waits = []
    for _ in range(3):
        clock.now += breaker.retry_in
        permit(breaker).failure(DOWN)
        waits.append(breaker.retry_in)
    assert [20.0, 35.0, 35.0] == waits

    clock.now += 35.0
    permit(breaker).success()
    for _ in range(3):
        permit(breaker).failure(DOWN)

    assert 10.0 == breaker.retry_in


def test_a_probe_that_nobody_waited_for_is_given_back() -> None:
    """The next caller probes instead; the circuit does not stay half open for good."""
    clock = Clock()
    breaker = opened(clock)
    clock.now += 10.0

    permit(breaker).release()
    after_release = breaker.state
    permit(breaker).success()

    assert (CircuitState.HALF_OPEN, CircuitState.CLOSED) == (after_release, breaker.state)


def test_retry_after_opens_at_once() -> None:
    """The provider knows best when to come back, within reason."""
    limited = EmbeddingFailure(FailureReason.RATE_LIMITED, "slow down", retry_after=3.0)
    breaker = CircuitBreaker(SETTINGS, Clock())
    permit(breaker).failure(limited)
    assert (CircuitState.OPEN, 3.0) == (breaker.state, breaker.retry_in)

    endless = EmbeddingFailure(FailureReason.RATE_LIMITED, "slow down", retry_after=9_999.0)
    breaker = CircuitBreaker(SETTINGS, Clock())
    permit(breaker).failure(endless)
    assert 35.0 == breaker.retry_in


def test_only_the_first_verdict_of_a_call_counts() -> None:
    """A question that was given up may still be answered; that was too late."""
    breaker = CircuitBreaker(SETTINGS, Clock())
    for _ in range(3):
        late = permit(breaker)
        late.failure(DOWN)
        late.success()
        late.release()

    assert CircuitState.OPEN == breaker.state


def test_calls_from_before_it_opened_say_nothing_new() -> None:
    """Ten calls that fail together open it once, and do not lengthen the wait."""
    clock = Clock()
    breaker = CircuitBreaker(SETTINGS, clock)
    calls = [permit(breaker) for _ in range(10)]
    for call in calls[:9]:
        call.failure(DOWN)
    assert 10.0 == breaker.retry_in

    clock.now += 10.0
    probe = permit(breaker)
    calls[9].success()

    assert CircuitState.HALF_OPEN == breaker.state
    assert None is breaker.acquire()
    probe.failure(DOWN)
    assert 20.0 == breaker.retry_in


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("afsrt"), st.integers(0, 30)), max_size=60))
def test_what_always_holds(steps: list[tuple[str, int]]) -> None:
    """No permit while open, one at a time while half open, and a way back from every state."""
    clock = Clock()
    breaker = CircuitBreaker(SETTINGS, clock)
    under_way: list[Permit] = []
    probe: Permit | None = None
    for step, number in steps:
        if step == "t":
            clock.now += number
        elif step == "a":
            before = breaker.state
            given = breaker.acquire()
            if before is CircuitState.OPEN:
                assert given is None
            elif before is CircuitState.CLOSED:
                assert given is not None
            else:
                assert (given is None) == (probe in under_way)
                probe = given or probe
            if given is not None:
                under_way.append(given)
        elif under_way:
            done = under_way.pop(number % len(under_way))
            {"f": lambda d: d.failure(DOWN), "s": Permit.success, "r": Permit.release}[step](done)
        assert 0.0 <= breaker.retry_in <= SETTINGS.longest

    for left in under_way:
        left.release()
    clock.now += SETTINGS.longest
    permit(breaker).success()
    assert CircuitState.CLOSED == breaker.state
