"""No warning comes from the library's headers, found by -I, in files that are compiled with more warnings than ours.

warnings.py --compiler COMMAND SOURCE...
"""
import argparse
import concurrent.futures
import os
import re
import shlex
import subprocess
import sys

FLAGS = '-fsyntax-only -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast -Wdouble-promotion'
GCC_FLAGS = '-Wuseless-cast'


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--compiler', required=True)
    parser.add_argument('sources', nargs='+')
    a = parser.parse_args()
    command = shlex.split(a.compiler) + shlex.split(FLAGS)
    if 'clang' not in command[0]:
        command += shlex.split(GCC_FLAGS)

    def check(source):
        done = subprocess.run(command + [source], capture_output=True, text=True)
        if done.returncode:
            return [f'{source} does not compile'] + done.stderr.splitlines()[:6]
        return re.findall(r'^\S*include/cudarray/\S+ warning: .*$', done.stderr, re.MULTILINE)

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = sorted({line for lines in pool.map(check, a.sources) for line in lines})
    print('\n'.join(found))
    print(f'warnings: {len(a.sources)} files, {len(found)} in headers')
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main())
