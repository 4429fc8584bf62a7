"""Consumers of the package: small projects that find, add or fetch it are configured and asked what they got; those of
which a compiler says more are built and run.

run.py --source DIR --build DIR
"""
import argparse
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
# `ask` says on a line of its own what find_package answers
HEAD = """cmake_minimum_required(VERSION 3.25)
project(consumer CXX)
set(CUDARRAY_WITH_HIGHWAY OFF)
macro(ask)
  unset(cudarray_NOT_FOUND_MESSAGE)
  find_package(cudarray QUIET ${ARGN})
  if(cudarray_FOUND)
    message("= ${ARGN}: ${cudarray_VERSION}")
  else()
    message("= ${ARGN}: no ${cudarray_NOT_FOUND_MESSAGE}")
  endif()
endmacro()
macro(show_headers)
  get_target_property(headers cudarray::core INTERFACE_INCLUDE_DIRECTORIES)
  if(NOT EXISTS "${headers}/cudarray/cudarray.hpp")
    message(FATAL_ERROR "there is no ${headers}/cudarray/cudarray.hpp")
  endif()
  message("= ${headers}")
endmacro()
"""
FIND = 'find_package(cudarray 0.1 REQUIRED)\n'
ADD = 'add_subdirectory("@source@" cudarray)\n'
FETCH = """include(FetchContent)
FetchContent_Declare(cudarray SOURCE_DIR "@source@" OVERRIDE_FIND_PACKAGE)
FetchContent_MakeAvailable(cudarray)
"""
PROGRAM = f'add_executable(consumer "{HERE}/main.cpp")\ntarget_link_libraries(consumer PRIVATE cudarray::cudarray)\n'
KNOWN = 'cpu, cuda, blas, onednn, highway, cudnn, nvrtc, zlib, png'
IN_A = {'a/CMakeLists.txt': PROGRAM}

# name -> the files of a project, and what it must say: lines that begin with '= '
ANSWERS = {
    'versions': ({'': """ask(0.2)
ask(0.2...0.3)
ask(0.0...<0.1)
ask(0.0.1...<0.1.0)
ask(0.1.1)
ask(1.0)
ask(0.1 EXACT)
ask(0.1.0 EXACT)
ask(0.1)
ask(0.1...0.3)
ask(0.0.5...0.1)
ask(0.1...<0.2)
ask(0.1...1)
ask()
"""}, ['0.2: no', '0.2...0.3: no', '0.0...<0.1: no', '0.0.1...<0.1.0: no', '0.1.1: no', '1.0: no', '0.1;EXACT: 0.1.0',
       '0.1.0;EXACT: 0.1.0', '0.1: 0.1.0', '0.1...0.3: 0.1.0', '0.0.5...0.1: 0.1.0', '0.1...<0.2: 0.1.0', '0.1...1: 0.1.0', ': 0.1.0']),
    'components': ({'': """ask(COMPONENTS gpu)
ask(COMPONENTS cpu)
ask(0.1 COMPONENTS cpu highway)
ask(COMPONENTS cpu OPTIONAL_COMPONENTS highway gpu)
message("= ${cudarray_cpu_FOUND} ${cudarray_highway_FOUND} ${cudarray_gpu_FOUND}")
"""}, [f"COMPONENTS;gpu: no no component 'gpu' of cudarray: there is none of that name, but {KNOWN}", 'COMPONENTS;cpu: 0.1.0',
       "0.1;COMPONENTS;cpu;highway: no no component 'highway' of cudarray: CUDARRAY_WITH_HIGHWAY is off",
       'COMPONENTS;cpu;OPTIONAL_COMPONENTS;highway;gpu: 0.1.0', 'TRUE FALSE FALSE']),
    'without_cuda': ({'': 'set(CUDARRAY_WITH_CUDA OFF)\nask(COMPONENTS cuda cudnn)\nadd_subdirectory(a)\n',
                      'a/CMakeLists.txt': 'set(CUDARRAY_WITH_CUDA ON)\nask(COMPONENTS cuda)\n'},
                     ["COMPONENTS;cuda;cudnn: no no component 'cuda' of cudarray: CUDARRAY_WITH_CUDA is off",
                      "COMPONENTS;cuda: no no component 'cuda' of cudarray: CUDARRAY_WITH_CUDA is off"]),
    'add_then_find': ({'': ADD + 'ask(0.2)\nask(0.1...0.3 COMPONENTS cpu)\nshow_headers()\n'},
                      ['0.2: no', '0.1...0.3;COMPONENTS;cpu: 0.1.0', '@source@/include']),
    'find_then_add': ({'': FIND + 'show_headers()\n' + ADD + FIND + 'show_headers()\n'},
                      ['@prefix@/include', '@prefix@/include']),
    'fetch_then_find': ({'': FETCH + 'ask(0.1 COMPONENTS gpu)\nask(0.2)\nask(0.1)\nshow_headers()\n'},
                        [f"0.1;COMPONENTS;gpu: no no component 'gpu' of cudarray: there is none of that name, but {KNOWN}",
                         '0.2: no', '0.1: 0.1.0', '@source@/include']),
    'siblings_add_find': ({'': 'add_subdirectory(b)\nadd_subdirectory(a)\n', 'a/CMakeLists.txt': FIND + PROGRAM,
                           'b/CMakeLists.txt': ADD + 'show_headers()\n'}, ['@source@/include']),
    'siblings_find_add': ({'': 'add_subdirectory(b)\nadd_subdirectory(a)\n', 'a/CMakeLists.txt': ADD + PROGRAM,
                           'b/CMakeLists.txt': FIND + 'show_headers()\n'}, ['@prefix@/include']),
    'siblings_find_find': ({'': 'add_subdirectory(b)\nadd_subdirectory(a)\n', 'a/CMakeLists.txt': FIND + PROGRAM,
                            'b/CMakeLists.txt': FIND + PROGRAM.replace('consumer', 'other', 1).replace('consumer P', 'other P')}, []),
    'copies': ({'': ADD + 'add_subdirectory("@newer@" newer)\nshow_headers()\n'},
               ['@source@/include', 'cudarray 0.2.3 is not used: this project has found or added 0.1.0 before.']),
    # the newer version is installed, this one is added
    'add_then_find_newer': ({'': ADD + 'ask(0.2)\nask(0.1)\nask(0.1...0.3)\nshow_headers()\n'},
                            ['0.2: no', '0.1: 0.1.0', '0.1...0.3: 0.1.0', '@source@/include']),
    'find_newer_then_add': ({'': 'ask(0.2 COMPONENTS cpu)\n' + ADD + 'ask(0.1)\nask(0.2)\nshow_headers()\n'},
                            ['0.2;COMPONENTS;cpu: 0.2.3', '0.1: no', '0.2: 0.2.3', '@newer_prefix@/include',
                             'cudarray 0.1.0 is not used: this project has found or added 0.2.3 before.']),
    'newer_alone': ({'': 'ask(0.1...0.2)\nask(0.1)\nask(0.1...0.3)\n'}, ['0.1...0.2: no', '0.1: no', '0.1...0.3: 0.2.3']),
    'other_folders': ({'': 'ask(0.1)\nshow_headers()\n'}, ['0.1: 0.1.0', '@build@/moved/inc/deep']),
    'absolute_folders': ({'': 'ask(0.1)\nshow_headers()\n'}, ['0.1: 0.1.0', '@build@/absolute-include']),
    'absolute_inside': ({'': 'ask(0.1)\nshow_headers()\n'}, ['0.1: 0.1.0', '@build@/inside_moved/include/here']),
}
# what other than `prefix` a project finds
FOUND_IN = {'add_then_find_newer': 'newer_prefix', 'find_newer_then_add': 'newer_prefix', 'newer_alone': 'newer_prefix',
            'other_folders': 'moved/share/deb/cmake/cudarray', 'absolute_folders': 'absolute_moved/lib/cmake/cudarray',
            'absolute_inside': 'inside_moved'}
# these are built and run
PROGRAMS = {'find_package': FIND + PROGRAM, 'add_subdirectory': ADD + PROGRAM, 'FetchContent': FETCH + PROGRAM}
# and these link what belongs to CUDA, in directories that did not look for it
CUDA_PROGRAMS = {
    'cuda_in_sibling': ({'': 'add_subdirectory(b)\nadd_subdirectory(a)\n',
                         'a/CMakeLists.txt': 'find_package(cudarray REQUIRED COMPONENTS cuda)\n' + PROGRAM.replace('cudarray::cudarray', 'cudarray::cuda'),
                         'b/CMakeLists.txt': FIND}, None),
    'both_devices': ({'': ADD + PROGRAM.replace('cudarray::cudarray', 'cudarray::cudarray cudarray::cuda')}, 'CUDARRAY_DEFAULT_DEVICE'),
}


def run(*command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


class Consumers:
    def __init__(self, source, build):
        self.source, self.build, self.failures, self.checked = source, build, [], 0
        shutil.rmtree(build, ignore_errors=True)
        build.mkdir(parents=True)

    def check(self, ok, name, text):
        self.checked += 1
        if not ok:
            self.failures.append(f'{name}:\n{text[-1500:]}')
        return ok

    def install(self, prefix, *options, source=None):
        """Installs under build/prefix; another name than `prefix` may follow, to which the tree is moved."""
        folder = self.build / f'pack_{prefix}'
        code, text = run('cmake', '-S', source or self.source, '-B', folder, '-G', 'Ninja', '-DCUDARRAY_BUILD_TESTS=OFF',
                         '-DCUDARRAY_BUILD_EXAMPLES=OFF', f'-DCMAKE_INSTALL_PREFIX={self.build / prefix}', *options)
        if code == 0:
            code, text = run('cmake', '--install', folder)
        self.check(code == 0, f'install {prefix}', text)

    def fill(self, text):
        for name in 'prefix', 'newer', 'newer_prefix':
            text = text.replace(f'@{name}@', str(self.build / name))
        return text.replace('@build@', str(self.build)).replace('@source@', str(self.source))

    def configure(self, name, files):
        folder = self.build / name
        for path, text in files.items():
            target = folder / (path or 'CMakeLists.txt')
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text((HEAD if path == '' else '') + self.fill(text))
        found = self.build / FOUND_IN.get(name, 'prefix')
        where = f'-Dcudarray_DIR={found}' if found.name == 'cudarray' else f'-DCMAKE_PREFIX_PATH={found}'
        return run('cmake', '-S', folder, '-B', folder / 'build', '-G', 'Ninja', where, '-DCMAKE_BUILD_TYPE=Debug')

    def answers(self, name, files, expected):
        said = []
        for again in range(2):  # the cache of the first time must not change the answers
            code, text = self.configure(name, files)
            said = [' '.join(line[1:].split()) for line in text.splitlines() if line.startswith('= ')]
            wanted = [self.fill(e) for e in expected]
            warned = [w for w in wanted if 'is not used' in w]
            ok = code == 0 and said == [w for w in wanted if w not in warned] and all(w in ' '.join(text.split()) for w in warned)
            if not self.check(ok, f'{name}, configured {again + 1} times: {wanted} expected', text):
                return

    def program(self, name, text):
        code, text = self.configure(name, {'': text})
        if code == 0:
            code, text = run('cmake', '--build', self.build / name / 'build')
        if code == 0:
            code, text = run(self.build / name / 'build' / 'consumer')
        self.check(code == 0 and text.strip() == 'cpu 16', name, text)

    def newer(self):
        """A copy of the sources that says it is 0.2.3."""
        folder = self.build / 'newer'
        folder.mkdir()
        shutil.copytree(self.source / 'cmake', folder / 'cmake')
        (folder / 'include').symlink_to(self.source / 'include')
        text = (self.source / 'CMakeLists.txt').read_text()
        self.check('VERSION 0.1.0 ' in text, 'newer', 'the version of the sources is not the one this file expects')
        (folder / 'CMakeLists.txt').write_text(text.replace('VERSION 0.1.0 ', 'VERSION 0.2.3 '))
        return folder


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--source', required=True)
    parser.add_argument('--build', required=True)
    a = parser.parse_args()
    c = Consumers(pathlib.Path(a.source).resolve(), pathlib.Path(a.build).resolve())
    build = c.build
    c.install('prefix')
    c.install('newer_prefix', source=c.newer())
    c.install('other', '-DCMAKE_INSTALL_INCLUDEDIR=inc/deep', '-DCMAKE_INSTALL_DATADIR=share/deb')
    c.install('absolute', f'-DCMAKE_INSTALL_INCLUDEDIR={build}/absolute-include', '-DCMAKE_INSTALL_DATADIR=lib')
    c.install('inside', f'-DCMAKE_INSTALL_INCLUDEDIR={build}/inside/include/here', f'-DCMAKE_INSTALL_DATADIR={build}/inside/share')
    for before, after in ('other', 'moved'), ('absolute', 'absolute_moved'), ('inside', 'inside_moved'):
        (build / before).rename(build / after)
    for name, (files, expected) in ANSWERS.items():
        c.answers(name, files, expected)
    for name, text in PROGRAMS.items():
        c.program(name, text)
    for name, (files, error) in CUDA_PROGRAMS.items() if shutil.which('nvcc') else ():
        code, text = c.configure(name, files)
        c.check(error in text and code != 0 if error else code == 0, name, text)
    for f in c.failures:
        print(f)
    print(f'consumers: {c.checked} checked, {len(c.failures)} failed')
    return 1 if c.failures else 0


if __name__ == '__main__':
    sys.exit(main())
