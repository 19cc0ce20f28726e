// Barriers and fences. __syncthreads is a builtin function of clang.
#pragma once

extern "C" {
int __syncthreads_count(int);
int __syncthreads_and(int);
int __syncthreads_or(int);
void __barrier_sync(unsigned int number);
void __barrier_sync_count(unsigned int number, unsigned int count);
void __syncwarp(unsigned int = 0xffffffffu);
void __threadfence();
void __threadfence_block();
void __threadfence_system();
void __nanosleep(unsigned int);
void __trap();
void __brkpt();
void __prof_trigger(int);
void __cluster_barrier_arrive();
void __cluster_barrier_wait();
}
#define __builtin_assume(condition)
