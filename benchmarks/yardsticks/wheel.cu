/* The plain CUDA loop: one thread per robot, rows of the arrays in global memory. Built by plain.py; see wheel_loop.h.

Every function returns 0 or the number of a CUDA error. One population at a time; not for several threads. */
#include "wheel_loop.h"

#include <cuda_runtime.h>

#define MOST_THREADS 256 /* per block: 255 registers for each still fit. -maxrregcount sets a lower limit */

static struct {
    R *parameters, *start, *reals;
    int *counts;
    size_t lanes;
} device;

__global__ void wheel(const R *__restrict__ parameters, const R *__restrict__ start, R *__restrict__ reals, int *__restrict__ counts,
                      size_t lanes, Plan plan) {
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= lanes) return;
    const Lane lane = {parameters, start, reals, counts, lanes, i};
    run_lane(lane, plan);
}

#define TRY(call)                                      \
    do {                                               \
        const cudaError_t code_ = (call);              \
        if (code_ != cudaSuccess) return (int)code_;   \
    } while (0)

extern "C" const char *error_text(int code) { return cudaGetErrorString((cudaError_t)code); }

extern "C" int release(void) {
    const cudaError_t codes[] = {cudaFree(device.parameters), cudaFree(device.start), cudaFree(device.reals), cudaFree(device.counts)};
    device.parameters = device.start = device.reals = NULL;
    device.counts = NULL;
    device.lanes = 0;
    for (int k = 0; k < 4; k++)
        if (codes[k] != cudaSuccess) return (int)codes[k];
    return 0;
}

extern "C" int upload(const R *parameters, const R *start, long lanes) {
    if (lanes < 1) return (int)cudaErrorInvalidValue;
    const int code = release();
    if (code) return code;
    const size_t n = (size_t)lanes;
    TRY(cudaMalloc((void **)&device.parameters, PARAMETERS * n * sizeof(R)));
    TRY(cudaMalloc((void **)&device.start, STARTS * n * sizeof(R)));
    TRY(cudaMalloc((void **)&device.reals, REALS * n * sizeof(R)));
    TRY(cudaMalloc((void **)&device.counts, COUNTS * n * sizeof(int)));
    TRY(cudaMemcpy(device.parameters, parameters, PARAMETERS * n * sizeof(R), cudaMemcpyHostToDevice));
    TRY(cudaMemcpy(device.start, start, STARTS * n * sizeof(R), cudaMemcpyHostToDevice));
    TRY(cudaMemset(device.reals, 0xff, REALS * n * sizeof(R))); /* NaN: what the kernel does not write is seen */
    TRY(cudaMemset(device.counts, 0xff, COUNTS * n * sizeof(int)));
    device.lanes = n;
    return 0;
}

/* The whole run, from the start that was uploaded; its time by the device's clock. */
extern "C" int run(int steps, int per_tick, double h, double settle, int block, float *milliseconds) {
    if (device.lanes == 0 || steps < 0 || per_tick < 1 || block < 1 || block > MOST_THREADS) return (int)cudaErrorInvalidValue;
    const Plan plan = {(R)h, (R)settle, steps, per_tick};
    const unsigned grid = (unsigned)((device.lanes + (size_t)block - 1) / (size_t)block);
    cudaEvent_t began, ended;
    TRY(cudaEventCreate(&began));
    TRY(cudaEventCreate(&ended));
    TRY(cudaEventRecord(began, 0));
    wheel<<<grid, block>>>(device.parameters, device.start, device.reals, device.counts, device.lanes, plan);
    TRY(cudaGetLastError());
    TRY(cudaEventRecord(ended, 0));
    TRY(cudaEventSynchronize(ended));
    TRY(cudaEventElapsedTime(milliseconds, began, ended));
    TRY(cudaEventDestroy(began));
    TRY(cudaEventDestroy(ended));
    return 0;
}

extern "C" int download(R *reals, int *counts) {
    if (device.lanes == 0) return (int)cudaErrorInvalidValue;
    TRY(cudaMemcpy(reals, device.reals, REALS * device.lanes * sizeof(R), cudaMemcpyDeviceToHost));
    TRY(cudaMemcpy(counts, device.counts, COUNTS * device.lanes * sizeof(int), cudaMemcpyDeviceToHost));
    return 0;
}

/* {registers per thread, bytes of local memory per thread, threads that run on a multiprocessor at once} */
extern "C" int describe(int block, int *three) {
    cudaFuncAttributes attributes;
    int blocks = 0;
    TRY(cudaFuncGetAttributes(&attributes, wheel));
    TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, wheel, block, 0));
    three[0] = attributes.numRegs;
    three[1] = (int)attributes.localSizeBytes;
    three[2] = blocks * block;
    return 0;
}
