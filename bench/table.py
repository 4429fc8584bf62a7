#!/usr/bin/env python3
"""One table of our JSON lines and the peers': a line per row of ours, with the fastest peer beside it.

bench/table.py OURS.jsonl PEERS.jsonl...    peers named bare* are bare kernel launches, peers named limit are hand-written
kernels (limits_h200.jsonl, measured on an H200); a row of these that peers have and we have not is shown with a dash.
"""
import collections
import json
import sys

SHORT = (('67108864', '64M'), ('33554432', '32M'), ('134217728', '128M'), ('16777216', '16M'), ('1048576', '1M'))


def read(names):
    for name in names:
        try:
            with open(name) as f:
                for line in f:
                    try:
                        yield json.loads(line)
                    except ValueError:
                        pass
        except OSError:
            pass


def graph(peer):
    return 'graph' in peer or 'fori_loop' in peer


def number(ms):
    return f'{ms:.5f}' if ms < 0.05 else f'{ms:.4f}' if ms < 10 else f'{ms:.2f}'


def main():
    rows = collections.OrderedDict()  # (workload, params) -> {peer: line}
    failed, machine = collections.OrderedDict(), set()
    for d in read(sys.argv[1:]):
        peer, workload = d.get('peer', ''), d.get('workload', '')
        if workload == 'device' and 'copy_gbps' in d:
            machine.add((d['params'], d['copy_gbps']))
        elif 'ms_median' in d:
            rows.setdefault((workload, d['params']), {})[peer] = d
        elif 'error' in d:
            failed.setdefault((peer, d['error']), []).append(workload)
    print(f"{'row':43}{'ours ms':>10}{'GB/s':>8}{'of peak':>8}  {'best peer':<23}{'ours/it':>7}{'ours/limit':>11}")
    for (workload, params), peers in rows.items():
        own = [p for p in peers if p.startswith(('cudarray', 'bare'))]
        limit = peers.get('limit', {}).get('ms_median')
        if not own and (limit is None or len(peers) == 1):
            continue
        for name in own or [None]:
            variant = name.replace('cudarray', '').strip('_') if name else ''
            title = f'{workload} {params}' + (f' [{variant}]' if variant else '')
            for long, short in SHORT:
                title = title.replace(long, short)
            # graphs are compared with graphs
            others = [d for p, d in peers.items() if p not in own and p != 'limit' and (not name or graph(p) == graph(name))]
            best = min(others, key=lambda d: d['ms_median'], default=None)
            bound = limit
            if name and not name.startswith('bare'):
                bound = peers.get('bare_graph' if graph(name) else 'bare_launch', {}).get('ms_median', limit)
            elif name:
                best = None
            ours = peers[name] if name else {}
            ms = ours.get('ms_median')
            rate = f"{ours['gbps']:.0f}" if 'gbps' in ours else f"{ours['tflops']:.1f}T" if 'tflops' in ours else ''
            part = f"{ours['of_limit']:.2f}" if 'of_limit' in ours else ''
            peer = best['peer'].replace('torch_compile', 'compile') + ' ' + number(best['ms_median']) if best else '-'
            ratio = f"{ms / best['ms_median']:.2f}" if ms and best else ''
            above = f'{ms / bound:.2f}' if ms and bound else f'({number(bound)})' if bound else ''
            print(f"{title:43}{number(ms) if ms else '-':>10}{rate:>8}{part:>8}  {peer:<23}{ratio:>7}{above:>11}".rstrip())
    for name in sorted({m for m, _ in machine}):
        copies = sorted(c for m, c in machine if m == name)
        print(f'of peak: of the copy bandwidth, {copies[0]:.0f} to {copies[-1]:.0f} GB/s on {name}, or of the BLAS at its best')
    for (peer, error), workloads in list(failed.items())[:12]:
        some = ', '.join(sorted(set(workloads))[:4]) + (', ...' if len(set(workloads)) > 4 else '')
        print(f'{peer}: {error[:70]}: {some}')


if __name__ == '__main__':
    main()
