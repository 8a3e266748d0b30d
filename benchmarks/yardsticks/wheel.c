/* The plain C loop: robots one at a time, all cores. Built by plain.py with -O3 -march=native; see wheel_loop.h. */
#define _GNU_SOURCE
#include "wheel_loop.h"

#include <pthread.h>
#include <stdlib.h>

enum { CHUNK = 64 }; /* robots a thread takes at a time, so that early falls leave no core idle */

typedef struct {
    Lane first;
    Plan plan;
    size_t next;
} Job;

static void *work(void *argument) {
    Job *job = (Job *)argument;
    const size_t lanes = job->first.lanes;
    for (;;) {
        const size_t from = __atomic_fetch_add(&job->next, CHUNK, __ATOMIC_RELAXED);
        if (from >= lanes) return NULL;
        const size_t to = from + CHUNK < lanes ? from + CHUNK : lanes;
        Lane lane = job->first;
        for (lane.lane = from; lane.lane < to; lane.lane++) run_lane(lane, job->plan);
    }
}

/* 0, or the error of pthread_create. */
int run(const R *parameters, const R *start, R *reals, int *counts, long lanes, int steps, int per_tick, double h, double settle,
        int threads) {
    Job job = {{parameters, start, reals, counts, (size_t)lanes, 0}, {(R)h, (R)settle, steps, per_tick}, 0};
    pthread_t *others = malloc(sizeof(pthread_t) * (size_t)(threads > 1 ? threads : 1));
    if (others == NULL) return 12;
    int started = 1, error = 0;
    for (; started < threads && error == 0; started++) error = pthread_create(&others[started], NULL, work, &job);
    if (error) started--;
    work(&job);
    for (int i = 1; i < started; i++) pthread_join(others[i], NULL);
    free(others);
    return error;
}
