#!/usr/bin/env python3
"""Times the rows of scripts/cpu-bench, interleaved: for each row all workers in turns, three times. Prints one table.

driver.py [--rows SUBSTRING,...] [--threads N] [--quick] [--check] [--json FILE] NAME=COMMAND...
One process per worker: ours, limit (hand-written loops) and the peers. It reads "time|check THREADS TARGET_MS ROW" and
answers with nanoseconds or a checksum, or with - for a row that it has not.
"""
# SPDX-License-Identifier: MIT
import argparse
import json
import math
import os
import shlex
import statistics
import subprocess
import sys
import time

# Each with all threads, or with one where a 1 stands before it.
ROWS = '''
  triad 16M into
  triad 16M new
1 triad 1K into
1 triad 1K new
  chain 4M
  a + row 4096^2
  a + column 4096^2
  a + b.T 4096^2
  where 16M
  a < b 16M
  float to int32 16M
  uint8 to float 16M
  float16 to float 16M
  float to float16 16M
  a[::2, ::-1] 4096^2
  transpose copy 4096^2
  sum 16M
1 sum 1K
  sum axis 1 4096^2
  sum axis 0 4096^2
  sum axis 1 64x512x256
  sum axis 1 1Mx16
  sum axis 0 1Mx16
  max axis 1 4096^2
  argmax axis 1 4096^2
  mean and var axis 1 4096^2
  var axis 0 4096^2
  softmax 4096x1024
  log_softmax 4096x1024
  logsumexp 4096x1024
  sum((a-b)^2) 16M
  cumsum 16M
1 sort 4M
1 argsort 1M
  topk 100 of 16M
  topk 8 of 128Kx64
  a[mask] 16M
  take 100K rows of 1Mx32
  uniform 16M
  normal 16M
  sgemm 1024
  sgemm 64
  sgemm 64 of 64
  conv 32-64 forward
  conv 32-64 backward
  conv 1-32 forward
  conv 1-32 backward weights
  max pool forward
  max pool backward
  LeNet step
  MLP step
  a + row 4093x4099
  a + b.T 4093x4099
  a + b 5 axes
  triad double 8M
  triad int32 16M
  sin 4M
  exp double 4M
  a % b 4M
  a + b uint8 64M
  a + b float16 16M
  sum axis 0 double 4093x2049
  sum int32 16M
  sum uint8 64M
  max uint8 64M
'''
UNCHECKED = ('uniform 16M', 'normal 16M')  # random numbers are not the same
SETTLE = 0.04  # seconds after which the threads of the worker before sleep: OpenBLAS's spin for 26 ms, OpenMP's for 5
TICKS = os.sysconf('SC_CLK_TCK')


class Worker:
    def __init__(self, name, command, threads):
        self.name = name
        blas = {k: str(threads) for k in ('OMP_NUM_THREADS', 'OPENBLAS_NUM_THREADS')}
        blas['KMP_BLOCKTIME'] = '1'  # LLVM's OpenMP (a clang++ build's) would spin for 200 ms, into the next worker's time
        self.process = subprocess.Popen(shlex.split(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env={**os.environ, **blas})

    def cpu_time(self):
        with open(f'/proc/{self.process.pid}/stat') as f:
            t = f.read().rsplit(')', 1)[1].split()
        return (int(t[11]) + int(t[12])) / TICKS

    def ask(self, verb, threads, target, row):
        """The answer's numbers, or None for a row that the worker has not."""
        try:
            print(verb, threads, target, row, file=self.process.stdin, flush=True)
            answer = self.process.stdout.readline().strip() or 'the worker is gone'
        except BrokenPipeError:
            answer = 'the worker is gone'
        try:
            return [float(x) for x in answer.split()]
        except ValueError:
            if answer != '-':
                print(f'{self.name}, {row}: {answer}', file=sys.stderr)
        return None


def check(workers, rows):
    """Compares the checksums of all workers with the first's that has the row. Returns the number of differences."""
    wrong = 0
    for name, threads in rows:
        reference = None
        for w in workers if name not in UNCHECKED else ():
            answer = w.ask('check', threads, 0, name)
            if answer and reference and abs(answer[0] - reference[0]) > 1e-4 * max(answer[1], reference[1]):
                wrong += 1
                print(f'{name}: {w.name} {answer[0]:.9g}, {reference[2]} {reference[0]:.9g}')
            elif answer and not reference:
                reference = *answer, w.name
    print(f'checksums: {wrong} differences')
    return wrong


def times(workers, name, threads, rounds, target):
    """Worker's name -> milliseconds, the median of the rounds."""
    found, active = {w.name: [] for w in workers}, list(workers)
    for r in range(rounds):
        for w in active[r % len(active):] + active[:r % len(active)]:
            answer = w.ask('time', threads, target, name)
            if answer:
                found[w.name].append(answer[0] * 1e-6)
                time.sleep(SETTLE)
        active = [w for w in active if found[w.name]]
        if not active:
            break
    return {w: statistics.median(t) for w, t in found.items() if t}


def others_time(workers):
    """Seconds that the processors were not idle, without the workers' part of it."""
    with open('/proc/stat') as f:
        t = [int(x) for x in f.readline().split()[1:9]]
    return (sum(t) - t[3] - t[4]) / TICKS - sum(w.cpu_time() for w in workers)


def number(ms):
    return f'{ms:.5f}' if ms < 0.1 else f'{ms:.3f}' if ms < 100 else f'{ms:.1f}'


def ratio(a, b):
    return f'{a / b:.2f}' if a and b else '-'


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument('--rows', default='', help='only rows whose name contains one of these, separated by commas')
    ap.add_argument('--threads', type=int, default=len(os.sched_getaffinity(0)))
    ap.add_argument('--quick', action='store_true', help='one round, a third of the time')
    ap.add_argument('--check', action='store_true', help='compare results, time nothing')
    ap.add_argument('--json', help='also writes one line per row, with all times, to this file')
    ap.add_argument('workers', nargs='+')
    o = ap.parse_args()
    rows = [(line[2:], 1 if line[0] == '1' else o.threads) for line in ROWS.strip('\n').split('\n')]
    rows = [r for r in rows if any(s in r[0] for s in o.rows.split(','))]
    workers = [Worker(*w.split('=', 1), o.threads) for w in o.workers]
    if o.check:
        return min(check(workers, rows), 1)
    peers = [w.name for w in workers if w.name not in ('ours', 'limit')]
    print('ours ms; ours / each; the best peer and ours / it')
    print(f'{"row":28}{"T":>2}{"ours ms":>10}' + ''.join(f'{p:>9}' for p in ['limit'] + peers) + '  best peer')
    out = open(o.json, 'w') if o.json else None
    to_best, to_limit, disturbed = {}, {}, 0
    for name, threads in rows:
        begin, before = time.monotonic(), others_time(workers)
        t = times(workers, name, threads, 1 if o.quick else 3, 20 if o.quick else 60)
        others = (others_time(workers) - before) / (time.monotonic() - begin)
        disturbed += others > 0.1
        ours = t.get('ours')
        best = min((p for p in peers if p in t), key=t.get, default=None)
        print(f'{name:28}{threads:>2}{number(ours) if ours else "-":>10}' +
              ''.join(f'{ratio(ours, t.get(p)):>9}' for p in ['limit'] + peers) +
              (f'  {best:8}{number(t[best]):>9}{ratio(ours, t[best]):>7}' if best else '  -') +
              (f' *{others:.1f}' if others > 0.1 else ''), flush=True)
        if ours and best:
            to_best[name] = ours / t[best]
        if ours and 'limit' in t:
            to_limit[name] = ours / t['limit']
        if out:
            print(json.dumps({'row': name, 'threads': threads, 'ms': t}), file=out, flush=True)
    for title, all_ratios in ('the best peer', to_best), ('the limit', to_limit):
        if all_ratios:
            mean = math.exp(statistics.fmean(map(math.log, all_ratios.values())))
            behind = sum(r > 1.05 for r in all_ratios.values())
            print(f'ours / {title}: geometric mean {mean:.2f}, more than 1.05 in {behind} of {len(all_ratios)} rows')
    if disturbed:
        print(f'*: other processes kept so many processors busy meanwhile ({disturbed} rows)')
    return 0


if __name__ == '__main__':
    sys.exit(main())
