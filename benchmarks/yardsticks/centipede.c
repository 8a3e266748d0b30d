/* The planar centipede written by hand for one robot: the yardstick for the batch engine and a second opinion on its physics.

It shares nothing with the rest of the repository. N nodes in a chain, node 0 the head at the largest x; a leg with a point mass
at its tip under every node; viscoelastic ground z = 0 with a bottomless gap; two local reflexes. One step is semi-implicit Euler:
contact forces, internal forces and the rates of phases and reflexes from the current state, then velocities, then positions.
Built by plain_centipede.py with -O3 -march=native, once with `Real` double and once, with -DSINGLE, float. Units: SI.

Nothing here is meant to be clever: one pass over the contacts, one over the links, one over the joints, one over the legs. The
one liberty: the error of a leg's angle is a single atan2 of the turn from target to leg, which is wrapped by nature.

Where the description can be read in more than one way:
  - F_x and F_z of the phase law and of the reflexes are the ground's force on the tip alone, not on the node above it;
  - lift, phase and the measures of support act in the forces with their values at the beginning of the step;
  - the flag q is settled first and us moves towards the new one; at the start q = us = eps = 0;
  - a held phase holds the target too: its rate is then zero;
  - a capped target has no vertical rate. */

#include <stdint.h>
#include <tgmath.h>

#ifdef SINGLE
typedef float Real;
#else
typedef double Real;
#endif

#define PI ((Real)3.14159265358979323846)
#define MID_STANCE_MARGIN ((Real)0.3)    /* a leg must bear load this far from either end of its stance, rad */
#define HIGHEST_TARGET ((Real)(-0.004)) /* of a tip, below its node, m */

enum { MOST_NODES = 64 };

/* plain_centipede.py knows the same names in the same order. */
typedef struct {
    int64_t nodes, lift_reflex, cantilever_reflex;                         /* N <= MOST_NODES, two switches */
    Real node_mass, tip_mass, spacing, height;                             /* m_b, m_t, l, h */
    Real stride, swing_height, stance_depth, frequency, phase_lag, radius; /* A, B, d_s, omega, psi, r_b */
    Real axial_stiffness, axial_damping, bend_stiffness, bend_damping;     /* k_a, c_a, k_b, c_b */
    Real leg_stiffness, leg_damping, hip_stiffness, hip_damping;           /* K_L, C_L, K_T, C_T */
    Real ground_stiffness, ground_damping, friction, slip_gain, gravity;   /* k_g, c_g, mu, c, g */
    Real gap_left, gap_right, corner_blend;                                /* x_l, x_r (no gap unless x_l < x_r), b */
    Real load_gain, neighbour_gain;                                        /* s_1, s_2 */
    Real block_force, lift_up, lift_down, lift_max;                        /* F_th, e_up, e_dn, e_max */
    Real load_threshold, support_time, moment_max;                         /* N_th, t_u, M_max */
    Real dt;
} Parameters;

typedef struct {
    Real x[MOST_NODES], z[MOST_NODES], vx[MOST_NODES], vz[MOST_NODES];                 /* nodes */
    Real tip_x[MOST_NODES], tip_z[MOST_NODES], tip_vx[MOST_NODES], tip_vz[MOST_NODES]; /* tips */
    Real phase[MOST_NODES], lift[MOST_NODES];                                          /* phi in [0, 2 pi), eps */
    Real flag[MOST_NODES], unsupported[MOST_NODES];                                    /* q, us */
    Real tip_fx[MOST_NODES], tip_fz[MOST_NODES];   /* of the ground on tips and on nodes, at the beginning of the last step: */
    Real node_fx[MOST_NODES], node_fz[MOST_NODES]; /* written, never read across steps */
} State;

/* Force of the ground on a point. */
static inline void contact(const Parameters *p, Real x, Real z, Real vx, Real vz, Real *fx, Real *fz) {
    *fx = *fz = 0;
    if (z >= 0) return;
    const Real depth = -z;
    Real side = 0, inside = 0, top = 1; /* wall's normal, horizontal depth, weight of the top surface against the wall */
    if (p->gap_left < p->gap_right) {
        if (p->gap_left < x && x < p->gap_right) return;
        side = x <= p->gap_left ? 1 : -1;
        inside = side > 0 ? p->gap_left - x : x - p->gap_right;
        if (p->corner_blend > 0) {
            const Real s = (inside - depth) / p->corner_blend;
            top = s <= -1 ? 0 : s >= 1 ? 1 : (Real)0.5 + (Real)0.25 * (3 * s - s * s * s);
        } else
            top = depth <= inside;
    }
    if (top > 0) {
        const Real normal = p->ground_stiffness * depth - p->ground_damping * vz;
        if (normal > 0) {
            *fx = -top * p->friction * normal * tanh(p->slip_gain * vx);
            *fz = top * normal;
        }
    }
    if (top < 1) {
        const Real normal = p->ground_stiffness * inside - p->ground_damping * side * vx;
        if (normal > 0) {
            *fx += (1 - top) * side * normal;
            *fz -= (1 - top) * p->friction * normal * tanh(p->slip_gain * vz);
        }
    }
}

/* For tables of the contact law alone. */
void centipede_contact(const Parameters *p, Real x, Real z, Real vx, Real vz, Real *force) {
    contact(p, x, z, vx, vz, &force[0], &force[1]);
}

/* Rate of a leg's phase. */
static inline Real phase_rate(const Parameters *p, const State *s, int i) {
    const int last = (int)p->nodes - 1;
    const Real phase = s->phase[i];
    Real rate = p->frequency;
    if (p->load_gain != 0 && s->tip_fz[i] > 0) rate -= p->load_gain * s->tip_fz[i] * cos(phase);
    if (p->neighbour_gain != 0) {
        if (i > 0) rate += p->neighbour_gain * sin(s->phase[i - 1] - phase - p->phase_lag);
        if (i < last) rate += p->neighbour_gain * sin(s->phase[i + 1] - phase + p->phase_lag);
    }
    return rate;
}

static inline Real wrapped(Real phase) { /* into [0, 2 pi) */
    if (phase >= 2 * PI) phase -= 2 * PI;
    if (phase < 0) phase += 2 * PI;
    return phase;
}

static inline Real clamped(Real value, Real least, Real most) { return value < least ? least : value > most ? most : value; }

static inline void step(const Parameters *p, State *s) {
    const int n = (int)p->nodes, last = n - 1;
    const Real dt = p->dt;
    Real fx[MOST_NODES], fz[MOST_NODES], tip_fx[MOST_NODES], tip_fz[MOST_NODES];
    Real moment[MOST_NODES];                             /* M */
    Real rate[MOST_NODES], climb[MOST_NODES];            /* of phase and of lift */
    Real flag[MOST_NODES], unsupported_rate[MOST_NODES]; /* q after this step, rate of us */

    /* Ground and gravity. */
    for (int i = 0; i < n; i++) {
        contact(p, s->x[i], s->z[i] - p->radius, s->vx[i], s->vz[i], &s->node_fx[i], &s->node_fz[i]);
        contact(p, s->tip_x[i], s->tip_z[i], s->tip_vx[i], s->tip_vz[i], &s->tip_fx[i], &s->tip_fz[i]);
        fx[i] = s->node_fx[i];
        fz[i] = s->node_fz[i] - p->node_mass * p->gravity;
        tip_fx[i] = s->tip_fx[i];
        tip_fz[i] = s->tip_fz[i] - p->tip_mass * p->gravity;
    }

    /* Phases and reflexes: rates only. */
    for (int i = 0; i < n; i++) {
        rate[i] = phase_rate(p, s, i);
        climb[i] = 0;
        flag[i] = s->flag[i];
        unsupported_rate[i] = moment[i] = 0;
    }
    if (p->lift_reflex)
        for (int i = 0; i < n; i++) {
            const Real push = s->tip_fx[i], load = s->tip_fz[i];
            if (push < -p->block_force && fabs(push) > fabs(load)) {
                climb[i] = p->lift_up;
                if (PI / 2 < s->phase[i] && s->phase[i] < PI) rate[i] = 0;
            } else if (load > p->block_force && fabs(push) <= load)
                climb[i] = -p->lift_down;
        }
    if (p->cantilever_reflex) {
        const Real weight = (p->node_mass + p->tip_mass) * p->gravity;
        Real shear = 0, bending = 0; /* S, M */
        for (int i = 0; i < n; i++) {
            if (s->tip_fz[i] > p->load_threshold)
                flag[i] = 0;
            else if (PI + MID_STANCE_MARGIN < s->phase[i] && s->phase[i] < 2 * PI - MID_STANCE_MARGIN)
                flag[i] = 1;
            unsupported_rate[i] = (flag[i] - s->unsupported[i]) / p->support_time;
            bending += shear * p->spacing;
            moment[i] = bending < p->moment_max ? bending : p->moment_max;
            bending *= s->unsupported[i];
            shear = (shear + weight) * s->unsupported[i];
        }
    }

    /* Axial links: link i goes from node i to node i + 1. turn = perp(link): the gradient of its angle. */
    Real link_x[MOST_NODES], link_z[MOST_NODES], turn_x[MOST_NODES], turn_z[MOST_NODES], spin[MOST_NODES];
    for (int i = 0; i < last; i++) {
        const Real dx = s->x[i + 1] - s->x[i], dz = s->z[i + 1] - s->z[i];
        const Real dvx = s->vx[i + 1] - s->vx[i], dvz = s->vz[i + 1] - s->vz[i];
        const Real length = sqrt(dx * dx + dz * dz), inverse = 1 / length, inverse_square = inverse * inverse;
        const Real stretching = (dx * dvx + dz * dvz) * inverse;
        const Real pull = (p->axial_stiffness * (length - p->spacing) + p->axial_damping * stretching) * inverse;
        fx[i] += pull * dx, fz[i] += pull * dz;
        fx[i + 1] -= pull * dx, fz[i + 1] -= pull * dz;
        link_x[i] = dx, link_z[i] = dz;
        turn_x[i] = -dz * inverse_square, turn_z[i] = dx * inverse_square;
        spin[i] = turn_x[i] * dvx + turn_z[i] * dvz;
    }

    /* Bending at interior nodes. */
    for (int i = 1; i < last; i++) {
        const int u = i - 1, w = i;
        const Real cross = link_x[u] * link_z[w] - link_z[u] * link_x[w], dot = link_x[u] * link_x[w] + link_z[u] * link_z[w];
        const Real torque = -(p->bend_stiffness * atan2(cross, dot) + p->bend_damping * (spin[w] - spin[u])) - moment[i];
        fx[i + 1] += torque * turn_x[w], fz[i + 1] += torque * turn_z[w];
        fx[i] -= torque * (turn_x[w] + turn_x[u]), fz[i] -= torque * (turn_z[w] + turn_z[u]);
        fx[i - 1] += torque * turn_x[u], fz[i - 1] += torque * turn_z[u];
    }

    /* Legs. */
    for (int i = 0; i < n; i++) {
        const Real phase = s->phase[i], sine = sin(phase), cosine = cos(phase);
        Real x, z, vx, vz; /* the target in the segment's frame, and its rate */
        if (phase < PI) {
            x = -p->stride * cosine, vx = p->stride * sine * rate[i];
            z = p->swing_height * sine, vz = p->swing_height * cosine * rate[i];
        } else {
            x = p->stride * (3 - phase * (2 / PI)), vx = p->stride * (-2 / PI) * rate[i];
            z = p->stance_depth * sine, vz = p->stance_depth * cosine * rate[i];
        }
        z += s->lift[i] - p->height;
        if (z > HIGHEST_TARGET) z = HIGHEST_TARGET, vz = 0;
        const Real target_length = sqrt(x * x + z * z), target_inverse = 1 / target_length;
        const Real target_stretching = (x * vx + z * vz) * target_inverse;
        const Real target_spin = (x * vz - z * vx) * (target_inverse * target_inverse);

        const int a = i > 0 ? i - 1 : 0, b = i < last ? i + 1 : last;
        const Real dx = s->x[a] - s->x[b], dz = s->z[a] - s->z[b];
        const Real dvx = s->vx[a] - s->vx[b], dvz = s->vz[a] - s->vz[b];
        const Real d_inverse = 1 / (dx * dx + dz * dz), d_turn_x = -dz * d_inverse, d_turn_z = dx * d_inverse;

        const Real gx = s->tip_x[i] - s->x[i], gz = s->tip_z[i] - s->z[i];
        const Real gvx = s->tip_vx[i] - s->vx[i], gvz = s->tip_vz[i] - s->vz[i];
        const Real length = sqrt(gx * gx + gz * gz), inverse = 1 / length;
        const Real g_turn_x = -gz * (inverse * inverse), g_turn_z = gx * (inverse * inverse);

        const Real cross = dx * gz - dz * gx, dot = dx * gx + dz * gz;
        const Real angle_error = atan2(cross * x - dot * z, dot * x + cross * z);
        const Real angle_spin = g_turn_x * gvx + g_turn_z * gvz - d_turn_x * dvx - d_turn_z * dvz;
        const Real stretching = (gx * gvx + gz * gvz) * inverse;
        const Real thrust = -(p->leg_stiffness * (length - target_length) + p->leg_damping * (stretching - target_stretching));
        const Real torque = -(p->hip_stiffness * angle_error + p->hip_damping * (angle_spin - target_spin));

        const Real push = thrust * inverse;
        const Real leg_fx = push * gx + torque * g_turn_x, leg_fz = push * gz + torque * g_turn_z;
        tip_fx[i] += leg_fx, tip_fz[i] += leg_fz;
        fx[i] -= leg_fx, fz[i] -= leg_fz;
        fx[a] -= torque * d_turn_x, fz[a] -= torque * d_turn_z;
        fx[b] += torque * d_turn_x, fz[b] += torque * d_turn_z;
    }

    /* Velocities, then positions; phases and reflexes by their rates. */
    const Real per_node = dt / p->node_mass, per_tip = dt / p->tip_mass;
    for (int i = 0; i < n; i++) {
        s->vx[i] += per_node * fx[i], s->vz[i] += per_node * fz[i];
        s->x[i] += dt * s->vx[i], s->z[i] += dt * s->vz[i];
        s->tip_vx[i] += per_tip * tip_fx[i], s->tip_vz[i] += per_tip * tip_fz[i];
        s->tip_x[i] += dt * s->tip_vx[i], s->tip_z[i] += dt * s->tip_vz[i];
        s->phase[i] = wrapped(s->phase[i] + dt * rate[i]);
        s->lift[i] = clamped(s->lift[i] + dt * climb[i], 0, p->lift_max);
        s->flag[i] = flag[i];
        s->unsupported[i] += dt * unsupported_rate[i];
    }
}

void centipede_run(const Parameters *p, State *s, int64_t steps) {
    for (int64_t k = 0; k < steps; k++) step(p, s);
}
