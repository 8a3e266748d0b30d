"""The classics of the zoo do what their papers, or closed forms, say."""

import functools
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp
from scipy.optimize import brentq, fsolve

import footfall as ff
from footfall.scenario.files import classics

FINE = {"sim.rtol": 1e-12, "sim.atol": 1e-14}


def classic(name, settings=()):
    return ff.load(classics()[name].with_suffix(".toml"), dict(settings), trust=True)


def run_of(name, **settings):
    run = classic(name, {**FINE, **settings}).run()
    assert run.verdict.word == "sound"
    assert run.ledger.relative_residual < 1e-11  # tolerance 1e-12 a step
    return run


@pytest.mark.parametrize("name", classics())
def test_a_classic_has_at_most_120_lines_and_says_what_it_is(name):
    lines = [line for line in classics()[name].read_text().splitlines() if line.strip()]
    assert len(lines) <= 120
    given = classics()[name].with_suffix(".toml").read_text()
    assert "look_for" in given and "about" in given


@pytest.mark.slow
@pytest.mark.parametrize("name", classics())
def test_a_classic_keeps_the_contract(name):
    assert classic(name).check().ok


# --- ball -----------------------------------------------------------------------------------------


def test_a_ball_bounces_for_as_long_as_the_geometric_series_says():
    """Bounces at t_1 (1 + 2 e + 2 e^2 + ...), t_1 = sqrt(2 h / g); the last leaves less than 1 mm/s.

    All that it leaves out is (2 v / g) / (1 - e) of the series.
    """
    run = run_of("bouncing-ball", duration=6.0)
    e, first, fall = 0.8, math.sqrt(2.0 / 9.81), math.sqrt(2.0 * 9.81)
    count = math.floor(math.log(1e-3 / fall) / math.log(e)) + 1
    expected = first * (1 + 2 * np.concatenate([[0.0], np.cumsum(e ** np.arange(1, count))]))
    times = [event.t for event in run.events]
    assert len(times) == count
    assert times == pytest.approx(expected, abs=1e-12)  # parabolas are exact; events to 1e-13 s
    whole = first * (1 + e) / (1 - e)
    assert 0 < whole - times[-1] < 2e-3 / 9.81 / (1 - e)
    assert run["ball.z"][-1] == pytest.approx(0.05, abs=1e-12)
    assert run["resting"][-1] == 1


# --- rocking block --------------------------------------------------------------------------------


def test_a_rocking_block_has_housners_restitution_and_period():
    """A quarter period is the time from rest at tilt_0 to upright, by quadrature of the energy;

    Housner's arcosh is its limit for slender blocks: sin(alpha - tilt) for alpha - tilt.
    """
    run = run_of("rocking-block", duration=3.0)
    b, h = 0.1, 0.5
    alpha, p2 = math.atan(b / h), 3.0 * 9.81 / (4.0 * math.hypot(b, h))
    before, after = (
        np.array([run["rate"][getattr(e, side)] for e in run.events_named("impact")])
        for side in ("row_before", "row_after")
    )
    # Housner's eq. for the energy, its root: r = (1 - m R^2 / I (1 - cos 2 alpha))^2
    assert after / before == pytest.approx(1 - 0.75 * (1 - math.cos(2 * alpha)), abs=1e-12)

    def quarter(tilt):
        def rate(u):  # tilt (1 - u^2) takes the root out of the end
            fall = math.cos(alpha - tilt) - math.cos(alpha - tilt * (1 - u * u))
            return (
                2 * tilt * u / math.sqrt(2 * p2 * fall)
                if u
                else math.sqrt(2 * tilt / (p2 * math.sin(alpha - tilt)))
            )

        return quad(rate, 0.0, 1.0, epsabs=1e-13, epsrel=1e-13)[0]

    first = run.events_named("impact")[0].t
    assert first == pytest.approx(quarter(0.1), abs=1e-10)  # quadrature and engine, 1e-12 each
    linear = math.acosh(1 / (1 - 0.1 / alpha)) / math.sqrt(p2)
    assert first == pytest.approx(linear, rel=alpha**2 / 6)  # sin s = s (1 - s^2 / 6)


def test_a_rocking_block_comes_to_rest_instead_of_rocking_for_ever():
    run = classic("rocking-block").run()
    assert run.outcome is ff.Outcome.reached_end
    assert run["side"][-1] == 0 and abs(run["tilt"][-1]) < 1e-9


# --- stick-slip -----------------------------------------------------------------------------------


def test_a_stick_slip_round_takes_as_long_as_the_closed_form_says():
    run = run_of("stick-slip")
    w, d, speed = 10.0, 0.2 * 9.81 / 100.0, 0.1
    slips = [event.t for event in run.events_named("slip")]
    sticks = [event.t for event in run.events_named("stick")]
    sliding = 2 / w * (math.pi - math.atan(w * d / speed))
    assert np.subtract(sticks, slips) == pytest.approx(sliding, abs=1e-10)
    assert np.diff(slips) == pytest.approx(2 * d / speed + sliding, abs=1e-10)
    assert run["surface.sliding"].min() > -1e-9  # it never overtakes the belt


# --- simplest walker ------------------------------------------------------------------------------


@functools.cache
def simplest_cycle():
    experiment = classic("simplest-walker", FINE)
    return experiment.cycle("heelstrike", ignore=("foot",))


def test_the_simplest_walker_has_the_published_gait():
    """Garcia et al. 1998, at a slope of 0.009: to the digits they print."""
    cycle = simplest_cycle()
    theta, rate = float(cycle.state.x.theta), float(cycle.state.x.theta_rate)
    assert theta == pytest.approx(0.200310900544287, abs=1e-12)
    assert rate == pytest.approx(-0.199832473004977, abs=1e-12)
    assert cycle.stable


# --- compass gait ---------------------------------------------------------------------------------

LEG, HIP, A, B, G, SLOPE = 5.0, 10.0, 0.5, 0.5, 9.81, math.radians(3.0)
MASS = np.diag(np.repeat([LEG, HIP, LEG], 2))  # mass of the standing leg, hip, of the swinging leg
L = A + B


def _rows(q, swing_foot):
    """Constraints of three points in the plane, by their rates: one foot held, both legs rigid."""
    one, hip, other = q[:2], q[2:4], q[4:]
    rows = np.zeros((4, 6))
    held = 4 if swing_foot else 0  # foot = hip + (mass - hip) l / b
    rows[0:2, 2:4] = (1 - L / B) * np.eye(2)
    rows[0:2, held : held + 2] = L / B * np.eye(2)
    for row, place, point in ((2, 0, one), (3, 4, other)):
        rows[row, place : place + 2], rows[row, 2:4] = point - hip, hip - point
    return rows


def _accelerations(t, y):
    q, v = y[:6], y[6:]
    rows = _rows(q, False)
    bias = np.array([0.0, 0.0, *(np.sum((v[i : i + 2] - v[2:4]) ** 2) for i in (0, 4))])
    weight = np.tile([0.0, -G], 3) * np.diag(MASS)
    whole = np.block([[MASS, rows.T], [rows, np.zeros((4, 4))]])
    return np.concatenate([v, np.linalg.solve(whole, np.concatenate([weight, -bias]))[:6]])


def _compass_step(unknowns):
    """From just after a heelstrike to just after the next: an oracle in points and forces."""
    stance, stance_rate, swing_rate = unknowns
    swing = 2 * SLOPE - stance

    def leg(angle):
        return np.array([math.sin(angle), math.cos(angle)])

    def turn(angle):
        return np.array([math.cos(angle), -math.sin(angle)])

    hip, hip_v = L * leg(stance), L * stance_rate * turn(stance)
    q = np.concatenate([A * leg(stance), hip, hip - B * leg(swing)])
    v = np.concatenate(
        [A * stance_rate * turn(stance), hip_v, hip_v - B * swing_rate * turn(swing)]
    )

    def lands(t, y):
        foot = y[2:4] + (y[4:6] - y[2:4]) * L / B
        height = foot @ [math.sin(SLOPE), math.cos(SLOPE)]
        return height if foot[0] > 0.1 else 1.0  # the feet pass each other through the ground

    lands.terminal, lands.direction = True, -1
    flown = solve_ivp(
        _accelerations,
        (0, 2),
        np.concatenate([q, v]),
        "DOP853",
        events=lands,
        rtol=1e-12,
        atol=1e-13,
    )
    q, v = flown.y_events[0][0][:6], flown.y_events[0][0][6:]
    rows = _rows(q, True)
    whole = np.block([[MASS, rows.T], [rows, np.zeros((4, 4))]])
    v = np.linalg.solve(whole, np.concatenate([MASS @ v, np.zeros(4)]))[:6]
    foot = q[2:4] + (q[4:] - q[2:4]) * L / B
    new = np.arctan2(*(q[2:4] - foot))
    rates = [
        (v[2:4] @ turn(new)) / L,
        ((v[2:4] - v[:2]) @ turn(np.arctan2(*(q[2:4] - q[:2])))) / B,
    ]
    return np.array([new, *rates]), flown.t_events[0][0]


def test_the_compass_gait_is_that_of_points_with_forces_between_them():
    """Its cycle by another program: points, constraint forces, an impact by least change."""
    cycle = classic("compass-gait", FINE).cycle("heelstrike")
    x = cycle.state.x
    found = np.array([float(x.stance), float(x.stance_rate), float(x.swing_rate)])
    expected = fsolve(lambda u: _compass_step(u)[0] - u, found + 1e-4, xtol=1e-13)
    assert found == pytest.approx(expected, abs=1e-9)
    assert cycle.period == pytest.approx(_compass_step(expected)[1], abs=1e-9)
    assert cycle.stable


@pytest.mark.slow
def test_a_compass_gait_that_swings_its_foot_into_the_ground_falls_with_closed_books():
    """The foot is in the ground where it may land: no landing, and no energy from one."""
    run = run_of("compass-gait", slope=0.03, hip_mass=5.0, duration=10.0)
    assert run.outcome is ff.Outcome.fell
    passed, landed = (run.events_named(name)[-1].t for name in ("tip_passes", "heelstrike"))
    assert passed > landed


def test_a_compass_gait_walks_on_level_ground_by_the_torque_of_its_curve():
    """What its motor gives is what its heelstrikes take, and its curve is a Bezier curve."""
    run = run_of("powered-compass", duration=12.0)
    assert run.outcome is ff.Outcome.reached_end and run.metrics["mean_speed"] > 0.3
    given = run.metrics["cost_of_transport"] * 20.0 * 9.81 * run.metrics["step_length"]
    assert given == pytest.approx(run.metrics["motor_work_per_step"], rel=1e-6)
    share = np.clip(0.5 + run["stance"] / 0.6, 0.0, 1.0)
    points = (12.5, 17.5, 3.0, -8.0, -8.5, 2.0)
    bernstein = sum(
        p * math.comb(5, k) * share**k * (1 - share) ** (5 - k) for k, p in enumerate(points)
    )
    assert run["motor.torque"] == pytest.approx(bernstein, abs=1e-12)


# --- kneed walker ---------------------------------------------------------------------------------

KNEED = np.repeat([0.05, 0.5, 0.5, 0.5, 0.05], 2)  # shank and thigh that stand, hip, thigh, shank


def _kneed(bent):
    """Rows of the legs that are left of five points: the standing leg straight, its foot at 0."""

    def left(q):
        shin, high, hip, thigh, shank = q.reshape(5, 2)
        out = (thigh - hip) / 0.325
        length = jnp.array([hip @ hip - 1.0, out @ out - 1.0])
        lower = shank - hip - 0.5 * out
        swing = jnp.array([lower @ lower - 0.125**2]) if bent else lower - 0.125 * out
        return jnp.concatenate([shin - 0.375 * hip, high - 0.675 * hip, length, swing])

    return left


def _kneed_landed(q):
    """The same with the other foot on the ground, where it is, and both legs straight."""
    shin, high, hip, thigh, shank = q.reshape(5, 2)
    out, old = (thigh - hip) / 0.325, (high - hip) / 0.325
    straight = [shank - hip - 0.625 * out, shin - hip - 0.625 * old]
    return jnp.concatenate([hip + out, *straight, jnp.array([out @ out - 1.0, old @ old - 1.0])])


def _held(left):
    """(accelerations, velocities after an impact that holds these rows) of points."""

    def rows_of(q):
        rows = jax.jacfwd(left)(q)
        whole = jnp.block([[jnp.diag(KNEED), rows.T], [rows, jnp.zeros((len(rows),) * 2)]])
        return rows, whole

    @jax.jit
    def moves(q, v):
        _, whole = rows_of(q)
        bias = jax.jvp(lambda q: jax.jvp(left, (q,), (v,))[1], (q,), (v,))[1]
        weight = KNEED * jnp.tile(jnp.array([0.0, -9.81]), 5)
        return jnp.linalg.solve(whole, jnp.concatenate([weight, -bias]))[:10]

    @jax.jit
    def stops(q, v):
        rows, whole = rows_of(q)
        return jnp.linalg.solve(whole, jnp.concatenate([KNEED * v, jnp.zeros(len(rows))]))[:10]

    return moves, stops


def test_the_kneed_walker_is_that_of_points_with_forces_between_them():
    """A step of its run by another program, both impacts by least change."""
    run = run_of("kneed-walker", duration=4.0)
    first, last = run.events_named("heelstrike")[-2:]
    names = ("shin", "thigh", "shin_rate", "thigh_rate")
    begin, end = ([float(run[n][e.row_after]) for n in names] for e in (first, last))
    stance, thigh, rate, swing_rate = begin
    assert run["shank"][first.row_after] == thigh
    kneestrike = run.events_named("kneestrike")[-1]
    assert first.t < kneestrike.t < last.t

    def leg(angle):
        return np.array([math.sin(angle), math.cos(angle)])

    def turn(angle):
        return np.array([math.cos(angle), -math.sin(angle)])

    up, swung = leg(stance), leg(thigh)
    q = np.concatenate([0.375 * up, 0.675 * up, up, up - 0.325 * swung, up - 0.625 * swung])
    hip, fast, slow = rate * turn(stance), rate * turn(stance), swing_rate * turn(thigh)
    v = np.concatenate([0.375 * fast, 0.675 * fast, hip, hip - 0.325 * slow, hip - 0.625 * slow])

    def straight(t, y):  # the shank's lean less the thigh's, of which the sine
        high, low = y[4:6] - y[6:8], y[6:8] - y[8:10] - 0.175 / 0.325 * (y[4:6] - y[6:8])
        return high[1] * low[0] - high[0] * low[1] if t > 0.01 else 1.0

    def lands(t, y):
        foot = y[4:6] + (y[6:8] - y[4:6]) / 0.325
        return foot @ [math.sin(0.0504), math.cos(0.0504)]

    t, y = 0.0, np.concatenate([q, v])
    for event, left in ((straight, _kneed(bent=True)), (lands, _kneed(bent=False))):
        event.terminal, event.direction = True, -1
        moves, stops = _held(left)
        if event is lands:
            y = np.concatenate([y[:10], stops(y[:10], y[10:])])
        flown = solve_ivp(
            lambda t, y, moves=moves: np.concatenate([y[10:], moves(y[:10], y[10:])]),
            (t, 2.0),
            y,
            "DOP853",
            events=event,
            rtol=1e-11,
            atol=1e-12,
        )
        t, y = flown.t_events[0][0], flown.y_events[0][0]
    q, v = y[:10], np.asarray(_held(_kneed_landed)[1](y[:10], y[10:]))
    out, old = (q[4:6] - q[6:8]) / 0.325, (q[4:6] - q[2:4]) / 0.325
    angles = [math.atan2(*out), math.atan2(*old)]
    rates = [
        (v[4:6] - v[6:8]) @ turn(angles[0]) / 0.325,
        (v[4:6] - v[2:4]) @ turn(angles[1]) / 0.325,
    ]
    assert [*angles, *rates] == pytest.approx(end, abs=1e-8)  # tolerances 1e-11, a step's growth
    assert t == pytest.approx(last.t - first.t, abs=1e-9)


@pytest.mark.slow
def test_the_kneed_walker_has_a_stable_gait():
    cycle = classic("kneed-walker", FINE).cycle("heelstrike")
    assert cycle.stable and cycle.residual < 1e-12


# --- spring-mass runner ---------------------------------------------------------------------------


def _slip_apex(height, speed):
    """(height, speed) of the next apex: ballistic flight in closed form, stance by SciPy."""
    mass, k, angle, g = 80.0, 20e3, math.radians(68.0), 9.81
    touch = math.sin(angle)
    y0 = [-math.cos(angle), touch, speed, -math.sqrt(2 * g * (height - touch))]

    def stance(t, y):
        pull = k / mass * (1 / math.hypot(y[0], y[1]) - 1)
        return [y[2], y[3], pull * y[0], pull * y[1] - g]

    def leaves(t, y):
        return math.hypot(y[0], y[1]) - 1 if t > 1e-3 else -1.0

    leaves.terminal, leaves.direction = True, 1
    end = solve_ivp(stance, (0, 1), y0, "DOP853", events=leaves, rtol=1e-12, atol=1e-13).y_events[
        0
    ][0]
    return end[1] + end[3] ** 2 / (2 * g), end[2]


def test_the_spring_mass_runner_runs_in_the_gait_that_scipy_finds():
    """80 kg, 20 kN/m, 68 degrees, 5 m/s at the apex (Geyer et al. 2005, section 4)."""
    height = brentq(lambda y: _slip_apex(y, 5.0)[0] - y, 0.94, 1.1, xtol=1e-14)
    assert classic("slip-runner").start.x.z == pytest.approx(height, abs=1e-6)  # as the file has it
    run = run_of("slip-runner", **{"start.height": height, "duration": 0.6})
    rows = [0, *(event.row_after for event in run.events_named("apex"))]
    assert len(rows) == 3
    assert run["z"][rows] == pytest.approx(height, abs=1e-9)
    assert run["vx"][rows] == pytest.approx(5.0, abs=1e-9)


def test_the_spring_mass_runner_forgets_its_height_at_fixed_energy():
    """Slope of the next apex by this one: central differences of both programs, halved once.

    Rounding of 1e-12 over 2e-4, and what is left of order four, come to less than 1e-7.
    """
    height = float(classic("slip-runner").start.x.z)

    def by_scipy(y):
        return _slip_apex(y, math.sqrt(25.0 + 2 * 9.81 * (height - y)))[0]

    def by_footfall(y):
        speed = math.sqrt(25.0 + 2 * 9.81 * (height - y))
        run = run_of("slip-runner", **{"start.height": y, "start.speed": speed, "duration": 0.4})
        return run["z"][run.events_named("apex")[0].row_after]

    def slope(of):
        coarse, fine = ((of(height + d) - of(height - d)) / (2 * d) for d in (2e-4, 1e-4))
        return (4 * fine - coarse) / 3

    assert slope(by_footfall) == pytest.approx(slope(by_scipy), abs=1e-7)
    assert abs(slope(by_scipy)) < 0.05  # 0.0297: stable by far


# --- Raibert's hopper -----------------------------------------------------------------------------


def test_raiberts_hopper_hops_as_high_as_energy_says():
    """On the spot: h' = (1 - u)^2 h + W / (m g), W = k thrust (s + thrust / 2) with s from

    k s^2 / 2 = m v^2 / 2 + m g s at the lowest point.
    """
    run = run_of("raibert-hopper", set_speed=0.0, duration=6.0)
    m, k, thrust, g, kept = 10.0, 4000.0, 0.01, 9.81, 0.9**2
    expected, h = [], 0.8 - 0.6
    for _ in range(6):
        s = (m * g + math.sqrt((m * g) ** 2 + 2 * k * m * g * kept * h)) / k
        h = kept * h + k * thrust * (s + 0.5 * thrust) / (m * g)
        expected.append(h)
    rows = [event.row_after for event in run.events_named("liftoff")][:6]
    top = run["z"][rows] + run["vz"][rows] ** 2 / (2 * g) - 0.6
    assert top == pytest.approx(expected, abs=1e-9)


def test_raiberts_hopper_gets_to_a_steady_speed_by_where_it_puts_its_foot():
    run = classic("raibert-hopper", {"duration": 40.0}).run()
    speeds = run["vx"][[event.row_after for event in run.events_named("liftoff")]]
    assert np.ptp(speeds[:5]) > 0.1 and np.ptp(speeds[-5:]) < 1e-3
    assert run.metrics["cost_of_transport"] > 0
