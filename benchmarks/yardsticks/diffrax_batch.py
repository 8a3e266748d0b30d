"""The rimless wheel by vmapped diffrax, as a user would write it: Tsit5 with a constant step, an
Event at touchdown, restarted.

    python benchmarks/yardsticks/diffrax_batch.py                      a few lanes, both control
    laws
    python benchmarks/yardsticks/diffrax_batch.py --lanes 4096 --duration 2 --step 2.5e-3 --law held

Two laws: "held" restarts at every 5 ms tick of the PID and at every footfall, which is the batch
engine's job; "continuous" has the PID inside the flow and restarts at footfalls only, which suits
diffrax better. Touchdown is the only event, and there is neither ledger nor statistics: less than
the batch engine does."""

import argparse
import functools
import time

import diffrax
import jax
import jax.numpy as jnp
import numpy as np
import optimistix as optx
from jax import lax

if __package__:
    from yardsticks import plain
else:
    import plain

jax.config.update("jax_enable_x64", True)

ALPHA = 2 * np.pi / 10
LAWS = ("held", "continuous")


def wanted(p, y):
    """Torque of both motors by the PID."""
    each = (
        p["proportional"] * (p["pitch_setpoint"] - y[1])
        + p["integral"] * y[6]
        - p["derivative"] * y[4]
    ) / 2
    return 2 * jnp.clip(each, -p["torque_limit"], p["torque_limit"])


def rates(p, y, torque, integral_rate):
    theta, phi, l, theta_dot, phi_dot, l_dot, _ = y
    total, m2c, g = (
        p["wheel_mass"] + p["torso_mass"],
        p["torso_mass"] * p["com_distance"],
        p["gravity"],
    )
    s, c = jnp.sin(theta - phi), jnp.cos(theta - phi)
    force = -p["stiffness"] * (l - p["rest_length"]) - p["damping"] * l_dot
    b1 = force - total * g * jnp.cos(theta) + total * l * theta_dot**2 - m2c * phi_dot**2 * c
    b2 = (
        -torque
        + total * g * l * jnp.sin(theta)
        - 2 * total * l * l_dot * theta_dot
        + m2c * l * phi_dot**2 * s
    )
    b3 = (
        torque
        - m2c * g * jnp.sin(phi)
        + 2 * m2c * l_dot * theta_dot * c
        - m2c * l * theta_dot**2 * s
    )
    l_dd, theta_dd, phi_dd = _solve(p, l, s, c, b1, b2, b3)
    return jnp.stack([theta_dot, phi_dot, l_dot, theta_dd, phi_dd, l_dd, integral_rate])


def _solve(p, l, s, c, b1, b2, b3):
    """The 3 x 3 system by hand: jnp.linalg.solve of small matrices is slow under vmap."""
    total, m2c = p["wheel_mass"] + p["torso_mass"], p["torso_mass"] * p["com_distance"]
    a13, a23, a22 = -m2c * s, -m2c * l * c, total * l * l + p["wheel_inertia"]
    a33 = m2c * p["com_distance"] + p["torso_inertia"]
    third = (b3 - a13 * b1 / total - a23 * b2 / a22) / (a33 - a13 * a13 / total - a23 * a23 / a22)
    return (b1 - a13 * third) / total, (b2 - a23 * third) / a22, third


def height(p, y):
    """Of the next foot above the ground."""
    return y[2] * jnp.cos(y[0]) - p["rest_length"] * jnp.cos(y[0] + ALPHA)


def transfer(p, y):
    """The next spoke takes over; the momenta of TorsoWheel.transfer."""
    theta, phi, l, theta_dot, phi_dot, l_dot, integral = y
    com, torso, rest = p["com_distance"], p["torso_mass"], p["rest_length"]
    hub_x, hub_z = (
        -l_dot * jnp.sin(theta) - l * theta_dot * jnp.cos(theta),
        l_dot * jnp.cos(theta) - l * theta_dot * jnp.sin(theta),
    )
    torso_x, torso_z = (
        torso * (hub_x + com * phi_dot * jnp.cos(phi)),
        torso * (hub_z + com * phi_dot * jnp.sin(phi)),
    )
    px, pz = p["wheel_mass"] * hub_x + torso_x, p["wheel_mass"] * hub_z + torso_z
    angle = theta + ALPHA
    s, c = jnp.sin(angle), jnp.cos(angle)
    p_phi = com * (jnp.sin(phi) * torso_z + jnp.cos(phi) * torso_x) + p["torso_inertia"] * phi_dot
    p_theta = -rest * (s * pz + c * px) + p["wheel_inertia"] * theta_dot
    new_l, new_theta, new_phi = _solve(
        p, rest, jnp.sin(angle - phi), jnp.cos(angle - phi), -s * px + c * pz, p_theta, p_phi
    )
    return jnp.stack([angle, phi, rest, new_theta, new_phi, new_l, integral])


def until(field, p, y, begin, end, step, steps):
    """Final state and number of footfalls of one robot from `begin` to `end`."""
    term, event = (
        diffrax.ODETerm(field),
        diffrax.Event(lambda t, y, args, **_: height(args, y), optx.Newton(1e-12, 1e-12), False),
    )

    def body(carry):
        t, y, count = carry
        found = diffrax.diffeqsolve(
            term,
            diffrax.Tsit5(),
            t,
            end,
            step,
            y,
            p,
            event=event,
            max_steps=steps,
            throw=False,
            adjoint=diffrax.ForwardMode(),
        )
        landed = found.result == diffrax.RESULTS.event_occurred
        y = found.ys[-1]
        return (
            jnp.where(landed, found.ts[-1], end),
            jnp.where(landed, transfer(p, y), y),
            count + landed,
        )

    return lax.while_loop(lambda carry: carry[0] < end, body, (begin, y, jnp.int32(0)))[1:]


@functools.partial(jax.jit, static_argnames=("law", "period", "ticks"))
def walk(p, y, step, law, period, ticks):
    """Final states (lanes, 7) and footfalls, vmapped over the lanes."""

    def continuous(p, y):
        def field(t, y, p):
            return rates(p, y, wanted(p, y), p["pitch_setpoint"] - y[1])

        return until(field, p, y, jnp.zeros(()), jnp.asarray(period * ticks), step, 16**5)

    def held(p, y):
        def tick(k, carry):
            y, count = carry
            y = y.at[6].add(period * (p["pitch_setpoint"] - y[1]))
            torque = wanted(p, y)
            y, landed = until(
                lambda t, y, p: rates(p, y, torque, 0.0 * t),
                p,
                y,
                jnp.zeros(()),
                jnp.asarray(period),
                step,
                4096,
            )
            return y, count + landed

        return lax.fori_loop(0, ticks, tick, (y, jnp.int32(0)))

    return jax.vmap(held if law == "held" else continuous)(p, y)


def prepare(given, law: str, step: float, duration: float, period: float = 5e-3):
    """A function of no arguments that runs the population and waits for it."""
    p = {name: jnp.asarray(given[name]) for name in plain.PARAMETERS}
    y = jnp.stack([jnp.asarray(given[name]) for name in plain.STATE], axis=1)
    return lambda: jax.block_until_ready(walk(p, y, step, law, period, round(duration / period)))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--lanes", type=int, default=64)
    parser.add_argument("--duration", type=float, default=1.0)
    parser.add_argument("--step", type=float, default=2.5e-3)
    parser.add_argument("--law", choices=LAWS, action="append")
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    given = plain.population(options.lanes)
    finest = plain.run_c(given, 1e-4, round(options.duration / 1e-4), 50, 0.5 * options.duration)[0]
    print(
        f"{options.lanes} lanes, {options.duration:g} s, Tsit5 with a constant step of"
        f" {options.step:g} s"
    )
    for law in options.law or LAWS:
        run = prepare(given, law, options.step, options.duration)
        began = time.perf_counter()
        states, landed = run()
        first, times = time.perf_counter() - began, []
        for _ in range(options.rounds):
            began = time.perf_counter()
            run()
            times.append(time.perf_counter() - began)
        error = ""
        if law == "held":
            gap = max(
                np.abs(states[:, k] - finest[name]).max() for k, name in enumerate(plain.STATE)
            )
            error = f", state error {gap:.1e}"
        rate = options.lanes * options.duration / min(times)
        print(
            f"{law:11} {rate:10.1f} robot-seconds/s, first call {first:.1f} s,"
            f" {np.mean(landed):.2f} footfalls{error}"
        )


if __name__ == "__main__":
    main()
