/* The rimless wheel with torso, written by hand for one robot: the yardstick for the batch engine.

One source for C (wheel.c) and CUDA (wheel.cu). The job is exactly the batch engine's: footfall's TorsoWheel on flat ground with
linear spokes and a sampled pitch PID; classical RK4 with a constant step; four guards; an event located on the cubic Hermite
interpolant of its guard, reached by a partial step, jumped, and the rest of the step made up; outcomes, ledger, statistics.

Choices, by macro:
  SINGLE      float instead of double
  POLY        sine and cosine by the polynomials of footfall/numerics/trig.py instead of libm's or CUDA's `sincos`
  FLAT        one Runge-Kutta step per pass of a single loop, whatever it is for. On a GPU the lanes of a warp then share it while
              one of them goes to an event; without FLAT the others wait for the lane that has one.

Nothing here is meant to be clever: constants of a robot are worked out once, the sine and cosine at the end of a step serve
the guards and the first stage of the next one, what changes only at footfalls stays in memory. */

#ifndef WHEEL_LOOP_H
#define WHEEL_LOOP_H

#include <math.h>
#include <stddef.h>

#ifdef __CUDACC__
#define FN static __device__ __forceinline__
#else
#define FN static inline __attribute__((always_inline))
#endif

#ifdef SINGLE
typedef float R;
#define FLOOR floorf
#define SINCOS sincosf
#define EPSILON ((R)1.1920929e-7)
#else
typedef double R;
#define FLOOR floor
#define SINCOS sincos
#define EPSILON ((R)2.220446049250313e-16)
#endif

#define SPACING ((R)0.62831853071795864769) /* between neighbouring spokes: ten of them */
#define COS_SPACING ((R)0.80901699437494742410)
#define SIN_SPACING ((R)0.58778525229247312917)
#define MOTORS ((R)2)
#define MOST_EVENTS 8 /* in one step */

/* Rows of the arrays, each with one entry per lane. plain.py knows the same names in the same order. */
enum { WHEEL_MASS, WHEEL_INERTIA, GRAVITY, REST_LENGTH, STIFFNESS, DAMPING, TORSO_MASS, COM_DISTANCE, TORSO_INERTIA,
       PITCH_SETPOINT, PROPORTIONAL, INTEGRAL, DERIVATIVE, TORQUE_LIMIT, PARAMETERS };
enum { SPOKE_ANGLE, TORSO_ANGLE, SPOKE_LENGTH, SPOKE_RATE, TORSO_RATE, SPOKE_SPEED, PITCH_INTEGRAL, FOOT_X, STARTS };
enum { END_TIME = STARTS, MOTOR_WORK, DAMPER_LOSS, IMPACT_LOSS, SPRING_LOSS, LEAST_FORCE, FIRST_TIME, FIRST_DISTANCE, FIRST_WORK,
       LAST_TIME, LAST_DISTANCE, LAST_WORK, REALS };
enum { OUTCOME, JUMPS, FIRST_STEPS, LAST_STEPS, COUNTS };

enum { RUNNING = 0, FELL = 2, ROCKED_BACK = 3, LIFTED_OFF = 4, ZENO = 5, DIVERGED = 7 }; /* footfall.hybrid.outcome */
enum { TOUCHDOWN = 1, ROCK_BACK = 2, LIFTOFF = 4, FALL = 8, GUARDS = 4 };                 /* bits */

typedef struct { R angle, pitch, length, angle_rate, pitch_rate, speed; } State;
typedef struct { R sin, cos; } Trig;      /* of the spoke angle */
typedef struct { R motor, damper; } Ports; /* work done by the one, taken by the other */
typedef struct { R g[GUARDS]; } Guards;

typedef struct {
    R total, weight, inverse_total, m2c, m2cg, torso_about_hub; /* M, M g, 1/M, m2 c, m2 c g, m2 c^2 + J2 */
    R wheel_inertia, rest, stiffness, damping;
    R setpoint, proportional, integral, derivative, limit;
} Robot;

typedef struct { /* one lane of the arrays */
    const R *parameters, *start;
    R *reals;
    int *counts;
    size_t lanes, lane;
} Lane;

typedef struct { R h, settle; int steps, per_tick; } Plan;

#define PARAMETER(L, row) ((L).parameters[(size_t)(row) * (L).lanes + (L).lane])
#define START(L, row) ((L).start[(size_t)(row) * (L).lanes + (L).lane])
#define REAL(L, row) ((L).reals[(size_t)(row) * (L).lanes + (L).lane])
#define COUNT(L, row) ((L).counts[(size_t)(row) * (L).lanes + (L).lane])

FN Trig trig(R x) {
    Trig t;
#ifdef POLY
#ifdef SINGLE
    const R turns = FLOOR(x * 0.636619772367581343f + 0.5f);
    R r = x - turns * 1.5703125f;
    r = r - turns * 0.0004837512969970703f;
    r = r - turns * 7.549533620476723e-08f;
    const R tail = turns * 2.5633440682570896e-12f, high = r - tail, low = (r - high) - tail, z = high * high;
    const R ps = (-1.9515295891e-4f * z + 8.3321608736e-3f) * z - 1.6666654611e-1f;
    const R pc = (2.443315711809948e-5f * z - 1.388731625493765e-3f) * z + 4.166664568298827e-2f;
#else
    const R turns = FLOOR(x * 0.636619772367581343 + 0.5);
    R r = x - turns * 1.57079632673412561417e+00;
    r = r - turns * 6.07710050630396597660e-11;
    const R tail = turns * 2.02226624879595063154e-21, high = r - tail, low = (r - high) - tail, z = high * high;
    R ps = 1.58969099521155010221e-10, pc = -1.13596475577881948265e-11;
    ps = ps * z - 2.50507602534068634195e-08;
    ps = ps * z + 2.75573137070700676789e-06;
    ps = ps * z - 1.98412698298579493134e-04;
    ps = ps * z + 8.33333333332248946124e-03;
    ps = ps * z - 1.66666666666666324348e-01;
    pc = pc * z + 2.08757232129817482790e-09;
    pc = pc * z - 2.75573143513906633035e-07;
    pc = pc * z + 2.48015872894767294178e-05;
    pc = pc * z - 1.38888888888741095749e-03;
    pc = pc * z + 4.16666666666666019037e-02;
#endif
    const R sine = high + (high * z * ps + low);
    const R half = z * (R)0.5, one_less = (R)1 - half;
    const R cosine = one_less + ((((R)1 - one_less) - half) + (z * z * pc - high * low));
    const int quadrant = (int)turns;
    const R s = (quadrant & 1) ? cosine : sine, c = (quadrant & 1) ? sine : cosine;
    t.sin = (quadrant & 2) ? -s : s;
    t.cos = ((quadrant + 1) & 2) ? -c : c;
#else
    SINCOS(x, &t.sin, &t.cos);
#endif
    return t;
}

FN R force_of(const Robot *p, State x) { return -p->stiffness * (x.length - p->rest) - p->damping * x.speed; }

/* Solve M(q) a = b for q = (length, angle, pitch): the matrix is an arrow, so the first two go first. */
FN void solve(const Robot *p, R length, R s, R c, R b_length, R b_angle, R b_pitch, R *length_dd, R *angle_dd, R *pitch_dd) {
    const R a13 = -p->m2c * s, a23 = -p->m2c * length * c;
    const R inverse = (R)1 / (p->total * length * length + p->wheel_inertia);
    const R l1 = a13 * p->inverse_total, l2 = a23 * inverse;
    const R dd = (b_pitch - l1 * b_length - l2 * b_angle) / (p->torso_about_hub - l1 * a13 - l2 * a23);
    *length_dd = b_length * p->inverse_total - l1 * dd;
    *angle_dd = b_angle * inverse - l2 * dd;
    *pitch_dd = dd;
}

/* Rates of the state; `at` is sine and cosine of its spoke angle. */
FN State flow(const Robot *p, State x, Trig at, R torque) {
    const Trig f = trig(x.pitch);
    const R s = at.sin * f.cos - at.cos * f.sin, c = at.cos * f.cos + at.sin * f.sin;
    const R w2 = x.angle_rate * x.angle_rate, swing = p->m2c * x.pitch_rate * x.pitch_rate, coriolis = (R)2 * x.speed * x.angle_rate;
    State d;
    d.angle = x.angle_rate;
    d.pitch = x.pitch_rate;
    d.length = x.speed;
    solve(p, x.length, s, c, force_of(p, x) - p->weight * at.cos + p->total * x.length * w2 - swing * c,
          -torque + p->weight * x.length * at.sin - p->total * x.length * coriolis + swing * x.length * s,
          torque - p->m2cg * f.sin + p->m2c * (coriolis * c - x.length * w2 * s), &d.speed, &d.angle_rate, &d.pitch_rate);
    return d;
}

FN State plus(State x, R h, State d) {
    x.angle += h * d.angle;
    x.pitch += h * d.pitch;
    x.length += h * d.length;
    x.angle_rate += h * d.angle_rate;
    x.pitch_rate += h * d.pitch_rate;
    x.speed += h * d.speed;
    return x;
}

FN Ports power(const Robot *p, State x, R torque) {
    Ports w = {torque * (x.pitch_rate - x.angle_rate), p->damping * x.speed * x.speed};
    return w;
}

/* One classical Runge-Kutta step; the ports' work over it by the same quadrature. */
FN State rk4(const Robot *p, State x, Trig at, R torque, R h, Ports *work) {
    const R half = (R)0.5 * h, sixth = h * (R)(1.0 / 6.0);
    State k = flow(p, x, at, torque), sum = k;
    Ports w = power(p, x, torque), all = w;
    State y = plus(x, half, k);
    k = flow(p, y, trig(y.angle), torque), w = power(p, y, torque);
    sum = plus(sum, (R)2, k), all.motor += (R)2 * w.motor, all.damper += (R)2 * w.damper;
    y = plus(x, half, k);
    k = flow(p, y, trig(y.angle), torque), w = power(p, y, torque);
    sum = plus(sum, (R)2, k), all.motor += (R)2 * w.motor, all.damper += (R)2 * w.damper;
    y = plus(x, h, k);
    k = flow(p, y, trig(y.angle), torque), w = power(p, y, torque);
    sum = plus(sum, (R)1, k);
    work->motor = sixth * (all.motor + w.motor);
    work->damper = sixth * (all.damper + w.damper);
    return plus(x, sixth, sum);
}

FN int is_good(State y, Ports w) {
    return isfinite(y.angle + y.pitch + y.length + y.angle_rate + y.pitch_rate + y.speed + w.motor + w.damper);
}

/* Height of the next and of the previous foot, spoke force, hub above its least height. */
FN Guards guards(const Robot *p, State x, Trig at) {
    const R height = x.length * at.cos, c = at.cos * COS_SPACING, s = at.sin * SIN_SPACING;
    Guards g = {{height - p->rest * (c - s), height - p->rest * (c + s), force_of(p, x), height - (R)0.5 * p->rest}};
    return g;
}

FN Guards guard_rates(const Robot *p, State x, Trig at, R torque, int hit) {
    const R climb = x.speed * at.cos - x.length * at.sin * x.angle_rate;
    const R c = at.cos * SIN_SPACING, s = at.sin * COS_SPACING, turn = p->rest * x.angle_rate;
    Guards d = {{climb + turn * (s + c), climb + turn * (s - c), 0, climb}};
    if (hit & LIFTOFF) d.g[2] = -p->stiffness * x.speed - p->damping * flow(p, x, at, torque).speed;
    return d;
}

FN int above(Guards g) { return (g.g[0] > 0) | (g.g[1] > 0) << 1 | (g.g[2] > 0) << 2 | (g.g[3] > 0) << 3; }
FN int below(Guards g) { return (g.g[0] <= 0) | (g.g[1] <= 0) << 1 | (g.g[2] <= 0) << 2 | (g.g[3] <= 0) << 3; }

/* Root in [0, 1] of the cubic with these end values (g0 > 0 >= g1) and slopes: Newton kept in a bracket. */
FN R cubic_root(R g0, R m0, R g1, R m1) {
    const R c2 = (R)3 * (g1 - g0) - (R)2 * m0 - m1, c3 = (R)2 * (g0 - g1) + m0 + m1, slack = (R)32 * EPSILON;
    R low = 0, high = 1, s = g0 / (g0 - g1);
    for (int i = 0; i < 10; i++) {
        const R value = g0 + s * (m0 + s * (c2 + s * c3)), slope = m0 + s * ((R)2 * c2 + (R)3 * s * c3), from = s;
        if (value > 0) low = s;
        else high = s;
        s = from - value / slope;
        if (!(s >= low - slack && s <= high + slack)) s = (R)0.5 * (low + high); /* rounding alone throws nothing to the middle */
        if (s >= from - (R)2 * EPSILON && s <= from + (R)2 * EPSILON) break;
    }
    return s < 0 ? (R)0 : s > 1 ? (R)1 : s;
}

/* Fraction of a step from x to y at which the first of the guards in `hit` reaches zero, and its bit. */
FN R locate(const Robot *p, State x, Trig at_x, State y, Trig at_y, R torque, R span, int hit, int *which) {
    const Guards g0 = guards(p, x, at_x), g1 = guards(p, y, at_y);
    const Guards m0 = guard_rates(p, x, at_x, torque, hit), m1 = guard_rates(p, y, at_y, torque, hit);
    R first = 2;
    *which = 0;
#ifdef __CUDACC__
#pragma unroll
#endif
    for (int k = 0; k < GUARDS; k++)
        if (hit >> k & 1) {
            const R s = g0.g[k] > 0 ? cubic_root(g0.g[k], span * m0.g[k], g1.g[k], span * m1.g[k]) : (R)0;
            if (s < first) first = s, *which = 1 << k;
        }
    return first;
}

FN int outcome_of(int hit) { return hit & ROCK_BACK ? ROCKED_BACK : hit & LIFTOFF ? LIFTED_OFF : hit & FALL ? FELL : RUNNING; }

/* The next spoke takes over: TorsoWheel.transfer, with the energy it takes, the foothold and the statistics of footfalls. */
FN State transfer(Lane L, const Robot *p, State x, Trig at, R time, R settle, R motor_work, Trig *at_after) {
    const R wheel_mass = PARAMETER(L, WHEEL_MASS), torso_mass = PARAMETER(L, TORSO_MASS), com = PARAMETER(L, COM_DISTANCE);
    const R torso_inertia = PARAMETER(L, TORSO_INERTIA);
    State y = x;
    y.angle = x.angle + SPACING;
    y.length = p->rest;
    const Trig a = trig(y.angle), f = trig(x.pitch);
    const R hub_x = -x.speed * at.sin - x.length * x.angle_rate * at.cos, hub_z = x.speed * at.cos - x.length * x.angle_rate * at.sin;
    const R swing = com * x.pitch_rate, torso_x = hub_x + swing * f.cos, torso_z = hub_z + swing * f.sin;
    const R torso_px = torso_mass * torso_x, torso_pz = torso_mass * torso_z;
    const R px = wheel_mass * hub_x + torso_px, pz = wheel_mass * hub_z + torso_pz;
    const R p_pitch = com * (f.sin * torso_pz + f.cos * torso_px) + torso_inertia * x.pitch_rate;
    const R p_angle = -p->rest * (a.sin * pz + a.cos * px) + p->wheel_inertia * x.angle_rate;
    const R p_length = a.cos * pz - a.sin * px;
    solve(p, p->rest, a.sin * f.cos - a.cos * f.sin, a.cos * f.cos + a.sin * f.sin, p_length, p_angle, p_pitch, &y.speed,
          &y.angle_rate, &y.pitch_rate);
    /* An orthogonal projection in the kinetic metric: it takes the energy of what it removes. */
    const R dx = hub_x + y.speed * a.sin + y.length * y.angle_rate * a.cos, dz = hub_z - y.speed * a.cos + y.length * y.angle_rate * a.sin;
    const R dpitch = x.pitch_rate - y.pitch_rate, dangle = x.angle_rate - y.angle_rate;
    const R tx = dx + com * dpitch * f.cos, tz = dz + com * dpitch * f.sin, stretch = x.length - p->rest;
    REAL(L, IMPACT_LOSS) += (R)0.5 * (wheel_mass * (dx * dx + dz * dz) + torso_mass * (tx * tx + tz * tz) +
                                      p->wheel_inertia * dangle * dangle + torso_inertia * dpitch * dpitch);
    REAL(L, SPRING_LOSS) += (R)0.5 * p->stiffness * stretch * stretch;
    const R foot = REAL(L, FOOT_X) + y.length * a.sin - x.length * at.sin, distance = foot - y.length * a.sin;
    const int steps = COUNT(L, JUMPS) + 1;
    REAL(L, FOOT_X) = foot;
    COUNT(L, JUMPS) = steps;
    if (time >= settle) {
        if (COUNT(L, FIRST_STEPS) == 0) {
            COUNT(L, FIRST_STEPS) = steps;
            REAL(L, FIRST_TIME) = time;
            REAL(L, FIRST_DISTANCE) = distance;
            REAL(L, FIRST_WORK) = motor_work;
        }
        COUNT(L, LAST_STEPS) = steps;
        REAL(L, LAST_TIME) = time;
        REAL(L, LAST_DISTANCE) = distance;
        REAL(L, LAST_WORK) = motor_work;
    }
    *at_after = a;
    return y;
}

typedef struct { /* what a lane carries from step to step */
    State x;
    Trig at;
    R pitch_integral, torque, least;
    Ports work;
    int armed, jumped, outcome;
} Carry;

FN void tick(const Robot *p, Carry *c, R period) {
    const R error = p->setpoint - c->x.pitch;
    c->pitch_integral += period * error;
    R each = (p->proportional * error + p->integral * c->pitch_integral - p->derivative * c->x.pitch_rate) / MOTORS;
    each = each > p->limit ? p->limit : each < -p->limit ? -p->limit : each;
    c->torque = MOTORS * each;
}

FN void go_to(Carry *c, State y, Trig at, Ports w, R force) {
    c->x = y;
    c->at = at;
    c->work.motor += w.motor;
    c->work.damper += w.damper;
    if (c->jumped && force < c->least) c->least = force;
}

/* What event `which` does; the lane stands at it. */
FN void fire(Lane L, const Robot *p, Carry *c, R time, R settle, int which) {
    c->armed = (c->armed | above(guards(p, c->x, c->at))) & ~which;
    c->outcome = outcome_of(which);
    if (c->outcome != RUNNING) return;
    c->x = transfer(L, p, c->x, c->at, time, settle, c->work.motor, &c->at);
    const Guards g = guards(p, c->x, c->at);
    if (!c->jumped || g.g[2] < c->least) c->least = g.g[2];
    c->jumped = 1;
    c->armed &= ~(TOUCHDOWN | ROCK_BACK); /* a new stance: both count once they have been positive */
    c->outcome = outcome_of(c->armed & below(g)); /* what the jump itself brought below zero */
    c->armed |= above(g);
}

FN Carry begin(Lane L, Robot *p) {
    Carry c;
    const R wheel_mass = PARAMETER(L, WHEEL_MASS), torso_mass = PARAMETER(L, TORSO_MASS), com = PARAMETER(L, COM_DISTANCE);
    const R gravity = PARAMETER(L, GRAVITY);
    p->total = wheel_mass + torso_mass;
    p->weight = p->total * gravity;
    p->inverse_total = (R)1 / p->total;
    p->m2c = torso_mass * com;
    p->m2cg = p->m2c * gravity;
    p->torso_about_hub = p->m2c * com + PARAMETER(L, TORSO_INERTIA);
    p->wheel_inertia = PARAMETER(L, WHEEL_INERTIA);
    p->rest = PARAMETER(L, REST_LENGTH);
    p->stiffness = PARAMETER(L, STIFFNESS);
    p->damping = PARAMETER(L, DAMPING);
    p->setpoint = PARAMETER(L, PITCH_SETPOINT);
    p->proportional = PARAMETER(L, PROPORTIONAL);
    p->integral = PARAMETER(L, INTEGRAL);
    p->derivative = PARAMETER(L, DERIVATIVE);
    p->limit = PARAMETER(L, TORQUE_LIMIT);
    c.x.angle = START(L, SPOKE_ANGLE);
    c.x.pitch = START(L, TORSO_ANGLE);
    c.x.length = START(L, SPOKE_LENGTH);
    c.x.angle_rate = START(L, SPOKE_RATE);
    c.x.pitch_rate = START(L, TORSO_RATE);
    c.x.speed = START(L, SPOKE_SPEED);
    c.pitch_integral = START(L, PITCH_INTEGRAL);
    c.at = trig(c.x.angle);
    c.torque = 0;
    c.least = 0;
    c.work.motor = c.work.damper = 0;
    c.armed = above(guards(p, c.x, c.at));
    c.jumped = 0;
    c.outcome = is_good(c.x, c.work) ? RUNNING : DIVERGED;
    REAL(L, FOOT_X) = START(L, FOOT_X);
    for (int row = IMPACT_LOSS; row < REALS; row++) REAL(L, row) = 0;
    for (int row = OUTCOME; row < COUNTS; row++) COUNT(L, row) = 0;
    return c;
}

FN void finish(Lane L, const Carry *c, R time) {
    REAL(L, SPOKE_ANGLE) = c->x.angle;
    REAL(L, TORSO_ANGLE) = c->x.pitch;
    REAL(L, SPOKE_LENGTH) = c->x.length;
    REAL(L, SPOKE_RATE) = c->x.angle_rate;
    REAL(L, TORSO_RATE) = c->x.pitch_rate;
    REAL(L, SPOKE_SPEED) = c->x.speed;
    REAL(L, PITCH_INTEGRAL) = c->pitch_integral;
    REAL(L, END_TIME) = time;
    REAL(L, MOTOR_WORK) = c->work.motor;
    REAL(L, DAMPER_LOSS) = c->work.damper;
    REAL(L, LEAST_FORCE) = c->least;
    COUNT(L, OUTCOME) = c->outcome;
}

/* A guard that starts exactly at zero and falls is armed: only a start can stand there. */
FN void arm_at_zero(const Robot *p, Carry *c) {
    const Guards g = guards(p, c->x, c->at), d = guard_rates(p, c->x, c->at, c->torque, LIFTOFF);
    for (int k = 0; k < GUARDS; k++) c->armed |= (g.g[k] == 0 && d.g[k] < 0) << k;
}

#ifndef FLAT

FN void run_lane(Lane L, Plan plan) {
    Robot robot;
    Carry c = begin(L, &robot);
    const Robot *p = &robot;
    const R period = plan.h * (R)plan.per_tick;
    R left = plan.h; /* of the step under way */
    int step = 0, until_tick = 0;
    for (; step < plan.steps && c.outcome == RUNNING; step++) {
        if (until_tick == 0) {
            tick(p, &c, period);
            if (step == 0) arm_at_zero(p, &c);
            until_tick = plan.per_tick;
        }
        until_tick--;
        Ports w;
        State y = rk4(p, c.x, c.at, c.torque, plan.h, &w);
        left = plan.h;
        if (!is_good(y, w)) {
            c.outcome = DIVERGED;
            break;
        }
        Trig at = trig(y.angle);
        Guards g = guards(p, y, at);
        int hit = c.armed & below(g);
        for (int events = 0; hit; events++) {
            if (events == MOST_EVENTS) {
                c.outcome = ZENO;
                break;
            }
            int which;
            const R span = left * locate(p, c.x, c.at, y, at, c.torque, left, hit, &which);
            y = rk4(p, c.x, c.at, c.torque, span, &w);
            if (!is_good(y, w)) {
                c.outcome = DIVERGED;
                break;
            }
            go_to(&c, y, trig(y.angle), w, force_of(p, y));
            left -= span;
            fire(L, p, &c, (R)step * plan.h + (plan.h - left), plan.settle, which);
            if (c.outcome != RUNNING) break;
            y = rk4(p, c.x, c.at, c.torque, left, &w);
            if (!is_good(y, w)) {
                c.outcome = DIVERGED;
                break;
            }
            at = trig(y.angle);
            g = guards(p, y, at);
            hit = c.armed & below(g);
        }
        if (c.outcome != RUNNING) break;
        go_to(&c, y, at, w, g.g[2]);
        c.armed |= above(g);
    }
    finish(L, &c, (R)step * plan.h + (c.outcome == RUNNING ? (R)0 : plan.h - left));
}

#else

FN void run_lane(Lane L, Plan plan) {
    Robot robot;
    Carry c = begin(L, &robot);
    const Robot *p = &robot;
    const R period = plan.h * (R)plan.per_tick;
    R left = plan.h, span = plan.h; /* of the step under way; what to integrate next */
    int step = 0, until_tick = 0, events = 0, which = 0;
    if (c.outcome == RUNNING && plan.steps > 0) {
        tick(p, &c, period);
        arm_at_zero(p, &c);
        until_tick = plan.per_tick;
    }
    while (step < plan.steps && c.outcome == RUNNING) {
        Ports w;
        const State y = rk4(p, c.x, c.at, c.torque, span, &w);
        const Trig at = trig(y.angle);
        const Guards g = guards(p, y, at);
        const int hit = c.armed & below(g);
        if (!is_good(y, w)) c.outcome = DIVERGED;
        else if (which) { /* there: jump, then try the rest of the step */
            go_to(&c, y, at, w, g.g[2]);
            left -= span;
            fire(L, p, &c, (R)step * plan.h + (plan.h - left), plan.settle, which);
            which = 0;
            span = left;
        } else if (hit) { /* go to the event instead */
            if (events++ == MOST_EVENTS) c.outcome = ZENO;
            else span = left * locate(p, c.x, c.at, y, at, c.torque, left, hit, &which);
        } else { /* the step is done */
            go_to(&c, y, at, w, g.g[2]);
            c.armed |= above(g);
            left = span = plan.h;
            events = 0;
            step++;
            if (--until_tick == 0) {
                if (step < plan.steps) tick(p, &c, period);
                until_tick = plan.per_tick;
            }
        }
    }
    finish(L, &c, (R)step * plan.h + (c.outcome == RUNNING ? (R)0 : plan.h - left));
}

#endif
#endif
