"""The water runner in SciPy, written from the physics and not from footfall: the yardsticks.

    python benchmarks/scipy_runner.py --verify     the same accelerations as footfall, to rounding

Twice, because a right-hand side may be written in two ways. *Plain* is what one writes from a
paper: the page's formulas with angles, vectors of two in NumPy, one leg after the other. *Lean* is
what one makes of it who has a week and a profiler: Python floats, no arrays, a linkage by two
circles shared by legs of equal crank angle, branches that leave out what is dry or folded away.
Lean is nearly twenty times faster."""

import math
import sys
from collections.abc import Callable, Sequence

import numpy as np
from scipy.integrate import odeint, solve_ivp

Rhs = Callable[[float, Sequence[float]], list[float]]

GRAVITY, DENSITY = 9.81, 1000.0
L0, L1, L2, L3, L4 = 0.0615, 0.0218, 0.0748, 0.0468, 0.0624
MASS, INERTIA = 0.060, 4.5e-4
#: Legs of equal crank angle share one linkage: front left with rear right, front right with rear
#: left, half a turn apart.
WATER_HIPS, GROUND_HIPS = (-0.0566, 0.1166), (-0.0266, 0.1466)
PAD, FOLDED, EDGE, DRAG, BLEND = 0.020, 0.005, 0.020, 0.703 * DENSITY, 0.05
TAIL_X, TAIL_Y, TAIL_RADIUS, TAIL_ANGLE = 0.20, -0.04, 0.030, math.radians(30.0)
LENGTH, SHARE, FOOT_INERTIA, STIFFNESS, DAMPING = 0.040, 0.85, 3e-7, 0.05, 2e-3
GROUND_STIFFNESS, GROUND_DAMPING = 2.5e8, 1.0
MU_S, MU_K, STRIBECK, CREEP = 0.4, 0.3, 0.05, 0.01

WATER_START = np.array([0.0, 0.05, 0.0, 0.0, 0.0, 0.0])
GROUND_START = np.array([0.0, 0.115, 0.0, 0.0, 0.0, 0.0] + 8 * [0.0])  # then (q, q') of each foot


# --- lean -----------------------------------------------------------------------------------------


def linkage(sine: float, cosine: float) -> tuple[float, float, float, float, float, float, float]:
    """(f, f', u(theta2), theta2') in the body's frame, for the crank at an angle of this sine and
    cosine.
    """
    ax, ay = L1 * cosine, L1 * sine
    dx, dy = L0 - ax, -ay
    square = dx * dx + dy * dy
    along = 0.5 * (square + (L2 * L2 - L3 * L3)) / square
    across = math.sqrt(L2 * L2 / square - along * along)
    px, py = along * dx - across * dy, along * dy + across * dx  # B - A
    wx, wy = px - dx, py - dy  # B - C
    ux, uy = px / L2, py / L2
    turn = (wx * ay - wy * ax) / (px * wy - py * wx)  # theta2'
    swing = L4 * turn
    return ax - L4 * ux, ay - L4 * uy, swing * uy - ay, ax - swing * ux, ux, uy, turn


def moments(x: float, square: float, radius: float) -> tuple[float, float, float, float]:
    """Integrals of s^k sqrt(R^2 - s^2) from -R to x, k = 0..3."""
    w2 = square - x * x
    if w2 <= 0.0:
        return (
            (0.5 * math.pi * square, 0.0, 0.125 * math.pi * square * square, 0.0)
            if x > 0.0
            else (0.0, 0.0, 0.0, 0.0)
        )
    w = math.sqrt(w2)
    w3 = w2 * w
    j0 = 0.5 * (x * w + square * (math.asin(x / radius) + 0.5 * math.pi))
    return j0, w3 / -3.0, 0.25 * (square * j0 - x * w3), w3 * (0.2 * w2 - square / 3.0)


def pad(
    radius: float, depth: float, up: float, a0: float, a1: float, pressure: float
) -> tuple[float, float]:
    """(F_w, S_1) of a disc; `pressure` is 2 g, or 0 without hydrostatics."""
    half = radius * up
    if depth <= -half:
        return 0.0, 0.0
    top = depth / up if depth < half else radius
    square = radius * radius
    j0, j1, j2, j3 = moments(top, square, radius)
    aa, ab, bb = a0 * a0, 2.0 * a0 * a1, a1 * a1
    d0, d1 = aa * j0 + ab * j1 + bb * j2, aa * j1 + ab * j2 + bb * j3
    low = a0 - a1 * radius
    if low * (a0 + a1 * top) < 0.0:
        k0, k1, k2, k3 = moments(-a0 / a1, square, radius)
        d0, d1 = 2.0 * (aa * k0 + ab * k1 + bb * k2) - d0, 2.0 * (aa * k1 + ab * k2 + bb * k3) - d1
        falls = low < 0.0
    else:
        falls = low + a0 + a1 * top < 0.0
    if falls:
        d0, d1 = -d0, -d1
    if pressure:
        d0 += pressure * (depth * j0 - up * j1)
        d1 += pressure * (depth * j1 - up * j2)
    return DRAG * d0, DRAG * d1


def foot(
    y: float, vx: float, vy: float, ux: float, uy: float, rate: float
) -> tuple[float, float, float]:
    """(F_x, F_y, M) of a breakaway pad that folds by degrees."""
    if y > PAD:
        return 0.0, 0.0, 0.0
    a0 = vx * uy - vy * ux
    share = 0.5 + 0.5 * math.tanh(a0 / BLEND)
    fx = fy = moment = 0.0
    side, up = (1.0, uy) if uy >= 0.0 else (-1.0, -uy)
    if share > 0.0:
        force, first = pad(PAD, -y, up, a0, -side * rate, 2.0 * GRAVITY)
        force *= share
        fx, fy, moment = -force * uy, force * ux, side * share * first
    if share < 1.0:
        rest = 1.0 - share
        force, first = pad(FOLDED, -y, up, a0, -side * rate, 0.0)
        across = 1.0 if ux >= 0.0 else -1.0
        edge, edge_first = pad(EDGE, -y, across * ux, -vx * ux - vy * uy, across * rate, 0.0)
        fx += rest * (edge * ux - force * uy)
        fy += rest * (edge * uy + force * ux)
        moment += rest * (side * first - across * edge_first)
    return fx, fy, moment


def water_flow(frequency: float = 8.0) -> Rhs:
    """Right-hand side of the run on water: x, y, pitch and their rates, x to the rear."""
    omega, (front, rear) = 2.0 * math.pi * frequency, WATER_HIPS
    tail_s, tail_c = math.sin(TAIL_ANGLE), math.cos(TAIL_ANGLE)

    def flow(t: float, state: Sequence[float]) -> list[float]:
        _, y, pitch, vx, vy, w = state.tolist() if isinstance(state, np.ndarray) else state
        s, c = math.sin(pitch), math.cos(pitch)
        sine, cosine = math.sin(omega * t), math.cos(omega * t)
        force_x = force_y = moment = 0.0
        for sign in (1.0, -1.0):
            fx, fy, dfx, dfy, bx, by, turn = linkage(sign * sine, sign * cosine)
            sweep_x, sweep_y = omega * (c * dfx - s * dfy), omega * (s * dfx + c * dfy)
            ux, uy, rate = c * bx - s * by, s * bx + c * by, w + turn * omega
            for hip in (front, rear):
                arm_x, arm_y = c * (hip + fx) - s * fy, s * (hip + fx) + c * fy
                px, py, m = foot(
                    y + arm_y, vx - w * arm_y + sweep_x, vy + w * arm_x + sweep_y, ux, uy, rate
                )
                force_x += px
                force_y += py
                moment += m + arm_x * py - arm_y * px
        arm_x, arm_y = c * TAIL_X - s * TAIL_Y, s * TAIL_X + c * TAIL_Y
        nx, ny = c * -tail_s + s * tail_c, s * -tail_s - c * tail_c
        up = tail_s * c - tail_c * s
        side = 1.0 if up >= 0.0 else -1.0
        speed = (vx - w * arm_y) * nx + (vy + w * arm_x) * ny
        force, first = pad(TAIL_RADIUS, -y - arm_y, side * up, speed, side * w, 2.0 * GRAVITY)
        px, py = -force * nx, -force * ny
        moment += arm_x * py - arm_y * px - side * first
        return [vx, vy, w, (force_x + px) / MASS, (force_y + py) / MASS - GRAVITY, moment / INERTIA]

    return flow


def water_touches(frequency: float = 8.0) -> list[Callable[[float, Sequence[float]], float]]:
    """Depth of the lowest point of each pad: zero where it meets or leaves the water."""
    omega = 2.0 * math.pi * frequency

    def touch(hip: float, sign: float) -> Callable[[float, Sequence[float]], float]:
        def depth(t: float, state: Sequence[float]) -> float:
            y, pitch = float(state[1]), float(state[2])
            s, c = math.sin(pitch), math.cos(pitch)
            fx, fy, _, _, ux, uy, _ = linkage(
                sign * math.sin(omega * t), sign * math.cos(omega * t)
            )
            return PAD * abs(s * ux + c * uy) - y - s * (hip + fx) - c * fy

        return depth

    return [touch(hip, sign) for hip in WATER_HIPS for sign in (1.0, -1.0)]


def ground_flow(frequency: float = 3.0) -> Rhs:
    """Right-hand side of the run on hard ground.

    The body, then deflection and rate of each compliant foot.
    """
    omega, (front, rear) = 2.0 * math.pi * frequency, GROUND_HIPS
    fixed, link = (1.0 - SHARE) * LENGTH, SHARE * LENGTH
    # (hip, sign of the crank's sine and cosine), in the order front left, front right, rear left,
    # rear right
    legs = ((front, 0), (front, 1), (rear, 1), (rear, 0))

    def flow(t: float, state: Sequence[float]) -> list[float]:
        z = state.tolist() if isinstance(state, np.ndarray) else state
        y, pitch, vx, vy, w = z[1], z[2], z[3], z[4], z[5]
        s, c = math.sin(pitch), math.cos(pitch)
        sine, cosine = math.sin(omega * t), math.cos(omega * t)
        cranks = linkage(sine, cosine), linkage(-sine, -cosine)
        force_x = force_y = moment = 0.0
        feet = []
        for leg, (hip, crank) in enumerate(legs):
            q, q_rate = z[6 + 2 * leg], z[7 + 2 * leg]
            spring = -DAMPING * q_rate - STIFFNESS * q
            fx, fy, dfx, dfy, bx, by, turn = cranks[crank]
            ux, uy = c * bx - s * by, s * bx + c * by
            sq, cq = math.sin(q), math.cos(q)
            # From the tip to the hinge.
            wx, wy = (link * (cq * ux + sq * uy), link * (cq * uy - sq * ux))
            arm_x, arm_y = c * (hip + fx) - s * fy, s * (hip + fx) + c * fy
            ex, ey = -fixed * ux - wx, -fixed * uy - wy  # tip from the leg's end
            depth = -(y + arm_y + ey)
            if depth > 0.0:
                rate = w + turn * omega
                sweep_x, sweep_y = omega * (c * dfx - s * dfy), omega * (s * dfx + c * dfy)
                tip_vx = vx - w * arm_y + sweep_x - rate * ey - q_rate * wy
                tip_vy = vy + w * arm_x + sweep_y + rate * ex + q_rate * wx
                normal = (
                    GROUND_STIFFNESS
                    * depth
                    * depth
                    * depth
                    * max(0.0, 1.0 - GROUND_DAMPING * tip_vy)
                )
                mu = MU_K + (MU_S - MU_K) * math.exp(-((tip_vx / STRIBECK) ** 2))
                along = -mu * normal * tip_vx / math.sqrt(tip_vx * tip_vx + CREEP * CREEP)
                force_x += along
                force_y += normal
                moment += (arm_x + ex) * normal - (arm_y + ey) * along
                spring += wx * normal - wy * along
            feet += [q_rate, spring / FOOT_INERTIA]
        return [vx, vy, w, force_x / MASS, force_y / MASS - GRAVITY, moment / INERTIA, *feet]

    return flow


# --- plain ----------------------------------------------------------------------------------------


def unit(angle: float) -> np.ndarray:
    return np.array([np.cos(angle), np.sin(angle)])


def quarter(vector: np.ndarray) -> np.ndarray:
    """Turned by 90 degrees."""
    return np.array([-vector[1], vector[0]])


def cross(a: np.ndarray, b: np.ndarray) -> float:
    return a[0] * b[1] - a[1] * b[0]


def plain_leg(
    body: np.ndarray, hip: float, psi: float, omega: float
) -> tuple[np.ndarray, np.ndarray, float, float]:
    """(F, its velocity, theta2, its rate) of a leg on a moving body, by the angles of the loop."""
    x, y, phi, vx, vy, rate = body
    theta0, theta1 = phi, phi + psi
    alpha = 2 * L3 * (L0 * np.cos(theta0) - L1 * np.cos(theta1))
    beta = 2 * L3 * (L0 * np.sin(theta0) - L1 * np.sin(theta1))
    gamma = L0**2 + L1**2 + L3**2 - L2**2 - 2 * L0 * L1 * np.cos(theta0 - theta1)
    theta3 = np.arctan2(beta, alpha) + np.arccos(-gamma / np.hypot(alpha, beta))
    link = L0 * unit(theta0) + L3 * unit(theta3) - L1 * unit(theta1)
    theta2 = np.arctan2(link[1], link[0])
    rate1 = rate + omega
    rate2 = (L0 * np.sin(theta3 - theta0) * rate - L1 * np.sin(theta3 - theta1) * rate1) / (
        L2 * np.sin(theta3 - theta2)
    )
    arm = hip * unit(phi)
    place = np.array([x, y]) + arm + L1 * unit(theta1) - L4 * unit(theta2)
    velocity = np.array([vx, vy]) + rate * quarter(arm)
    velocity = velocity + L1 * quarter(unit(theta1)) * rate1 - L4 * quarter(unit(theta2)) * rate2
    return place, velocity, theta2, rate2


def plain_pad(
    radius: float,
    centre: np.ndarray,
    velocity: np.ndarray,
    axis: np.ndarray,
    normal: np.ndarray,
    rate: float,
    chi: float,
) -> tuple[np.ndarray, float]:
    """(force, moment about the centre) of a disc in water."""
    tau = axis if axis[1] >= 0 else -axis
    depth = -centre[1]
    if depth <= -radius * tau[1]:
        return np.zeros(2), 0.0
    top = radius if depth >= radius * tau[1] else depth / tau[1]
    a0, a1 = velocity @ normal, rate * (-tau[1] * normal[0] + tau[0] * normal[1])

    def integrals(x: float) -> np.ndarray:
        w = np.sqrt(max(radius**2 - x**2, 0.0))
        j0 = 0.5 * (x * w + radius**2 * (np.arcsin(x / radius) + np.pi / 2))
        return np.array(
            [j0, -(w**3) / 3, -x * w**3 / 4 + radius**2 * j0 / 4, w**5 / 5 - radius**2 * w**3 / 3]
        )

    def squares(j: np.ndarray) -> np.ndarray:
        return a0**2 * j[:2] + 2 * a0 * a1 * j[1:3] + a1**2 * j[2:]

    j = integrals(top)
    low, high = a0 - a1 * radius, a0 + a1 * top
    drag = np.sign(low + high) * squares(j)
    if low * high < 0:
        drag = np.sign(low) * (2 * squares(integrals(-a0 / a1)) - squares(j))
    force, first = DRAG * (drag + 2 * GRAVITY * chi * (depth * j[:2] - tau[1] * j[1:3]))
    return -force * normal, -cross(tau, normal) * first


def plain_water_flow(frequency: float = 8.0) -> Rhs:
    """Right-hand side of the run on water."""
    omega = 2 * np.pi * frequency
    legs = [
        (hip, phase)
        for hip, phase in zip(np.repeat(WATER_HIPS, 2), (0.0, np.pi, np.pi, 0.0), strict=True)
    ]

    def flow(t: float, state: np.ndarray) -> np.ndarray:
        phi, rate = state[2], state[5]
        centre, speed = state[:2], state[3:5]
        force, moment = np.zeros(2), 0.0
        for hip, phase in legs:
            place, velocity, theta2, rate2 = plain_leg(state, hip, omega * t + phase, omega)
            u = unit(theta2)
            n = np.array([u[1], -u[0]])
            share = 0.5 * (1 + np.tanh(velocity @ n / BLEND))
            parts = (
                (share, plain_pad(PAD, place, velocity, u, n, rate2, 1.0)),
                (1 - share, plain_pad(FOLDED, place, velocity, u, n, rate2, 0.0)),
                (1 - share, plain_pad(EDGE, place, velocity, n, -u, rate2, 0.0)),
            )
            push = sum(weight * load[0] for weight, load in parts)
            force = force + push
            moment += sum(weight * load[1] for weight, load in parts) + cross(place - centre, push)
        arm = TAIL_X * unit(phi) + TAIL_Y * quarter(unit(phi))
        axis, normal = unit(phi + np.pi - TAIL_ANGLE), unit(phi - np.pi / 2 - TAIL_ANGLE)
        push, twist = plain_pad(
            TAIL_RADIUS, centre + arm, speed + rate * quarter(arm), axis, normal, rate, 1.0
        )
        force, moment = force + push, moment + twist + cross(arm, push)
        return np.array([*state[3:6], force[0] / MASS, force[1] / MASS - GRAVITY, moment / INERTIA])

    return flow


def plain_ground_flow(frequency: float = 3.0) -> Rhs:
    """Right-hand side of the run on hard ground."""
    omega = 2 * np.pi * frequency
    legs = [
        (hip, phase)
        for hip, phase in zip(np.repeat(GROUND_HIPS, 2), (0.0, np.pi, np.pi, 0.0), strict=True)
    ]

    def flow(t: float, state: np.ndarray) -> np.ndarray:
        force, moment, feet = np.zeros(2), 0.0, []
        for leg, (hip, phase) in enumerate(legs):
            q, q_rate = state[6 + 2 * leg : 8 + 2 * leg]
            place, velocity, theta2, rate2 = plain_leg(state[:6], hip, omega * t + phase, omega)
            u, w = unit(theta2), unit(theta2 - q)
            tip = place - (1 - SHARE) * LENGTH * u - SHARE * LENGTH * w
            v = (
                velocity
                - (1 - SHARE) * LENGTH * rate2 * quarter(u)
                - SHARE * LENGTH * (rate2 - q_rate) * quarter(w)
            )
            push = np.zeros(2)
            if tip[1] < 0:
                normal = max(0.0, GROUND_STIFFNESS * -(tip[1] ** 3) * (1 - GROUND_DAMPING * v[1]))
                mu = MU_K + (MU_S - MU_K) * np.exp(-((v[0] / STRIBECK) ** 2))
                push = np.array([-mu * normal * v[0] / np.hypot(v[0], CREEP), normal])
            bend = SHARE * LENGTH * (-push[0] * w[1] + push[1] * w[0])
            feet += [q_rate, (bend - DAMPING * q_rate - STIFFNESS * q) / FOOT_INERTIA]
            force = force + push
            moment += cross(tip - state[:2], push)
        return np.array(
            [*state[3:6], force[0] / MASS, force[1] / MASS - GRAVITY, moment / INERTIA, *feet]
        )

    return flow


# --- both -----------------------------------------------------------------------------------------


def integrate(
    flow: Rhs,
    start: np.ndarray,
    duration: float,
    method: str,
    rtol: float,
    atol: float,
    max_step: float = np.inf,
    events: Sequence[Callable] | None = None,
) -> tuple[np.ndarray, int]:
    """(final state, evaluations). "odeint" is LSODA without a Python loop around it."""
    if method == "odeint":
        state, told = odeint(
            flow, start, [0.0, duration], rtol=rtol, atol=atol, tfirst=True, full_output=True, mxstep=10**6,
            hmax=max_step if np.isfinite(max_step) else 0.0,
        )  # fmt: skip
        return state[-1], int(told["nfe"][-1])
    run = solve_ivp(
        flow,
        (0.0, duration),
        start,
        method=method,
        rtol=rtol,
        atol=atol,
        max_step=max_step,
        events=events,
    )
    if not run.success:
        raise RuntimeError(f"{method}: {run.message}")
    return run.y[:, -1], run.nfev


def verify(samples: int = 400) -> dict[str, float]:
    """Largest difference from footfall's flow, as a share of the largest rate of its kind, by
    case.
    """
    import jax

    from footfall import load

    draw = np.random.default_rng(1)
    worst = {}
    cases = {
        "water-runner": (WATER_START, {"lean": water_flow(), "plain": plain_water_flow()}),
        "water-runner-ground": (
            GROUND_START,
            {"lean": ground_flow(), "plain": plain_ground_flow()},
        ),
    }
    for name, (start, flows) in cases.items():
        system, begin = (e := load(name)).system, e.start
        _, shape = jax.tree.flatten(begin.x)
        theirs = jax.jit(
            lambda t, y, s=system, m=begin.m, f=shape: jax.tree.leaves(
                s.flow(t, jax.tree.unflatten(f, y), m).x
            )
        )
        rows: dict[str, list] = {side: [] for side in ("footfall", *flows)}
        for _ in range(samples):
            y = start.copy()
            y[1] = draw.uniform(-0.02, 0.09) if name == "water-runner" else draw.uniform(0.06, 0.12)
            y[2:6] = draw.normal(0.0, (0.2, 1.0, 0.5, 3.0))
            if len(y) > 6:
                y[6::2], y[7::2] = draw.normal(0.0, 0.2, 4), draw.normal(0.0, 5.0, 4)
            t = draw.uniform(0.0, 0.5)
            rows["footfall"].append(np.array(theirs(t, list(y)), float))
            for side, flow in flows.items():
                rows[side].append(np.array(flow(t, y)))
        ours = np.array(rows["footfall"])
        for side in flows:
            worst[f"{name}, {side}"] = float(
                np.max(np.abs(np.array(rows[side]) - ours) / np.abs(ours).max(axis=0))
            )
    return worst


if __name__ == "__main__":
    if "--verify" in sys.argv:
        for case, gap in verify().items():
            print(f"{case:28} differs from footfall by {gap:.1e} of the largest rate at most")
            if not gap < 1e-12:
                sys.exit(f"{case}: not the same equations")
    else:
        print(__doc__)
