/** The MPI library of a program, found in files that are made here, that lie, and in those of real libraries. */

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { assert, suite } from '@stci/testkit';
import { linkedMpi, neededLibraries, type LinkedMpi } from '@stci/stcirun/internal';
import { elfFile, loaderCache, type ElfParts } from './elf-file.js';
import { MPI_LIBRARIES } from './mpi-libraries.js';

/** A directory of files; `find` looks there, and nowhere else. */
class Place {
  readonly directory = mkdtempSync(join(tmpdir(), 'stci-linked-'));

  put(name: string, content: ElfParts | Buffer | string): string {
    const file = join(this.directory, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, typeof content === 'string' || Buffer.isBuffer(content) ? content : elfFile(content));
    return file;
  }

  find(program: string, libraries = ''): LinkedMpi {
    const cache = join(this.directory, 'ld.so.cache');
    const [wdir, path] = [this.directory, `/no/such:${this.directory}/bin`];
    return linkedMpi(program, { wdir, path, libraries, cache, defaults: [join(this.directory, 'usr/lib')] });
  }

  /** Of a program of its own with these libraries, in `lib`. */
  made(name: string, parts: ElfParts): string {
    this.put(`lib/${name}`, parts);
    this.put('program', { needed: [name], runpath: '$ORIGIN/lib' });
    const { library, family, version } = this.find('./program');
    assert.is(library, name);
    return `${family} ${version ?? '?'}`;
  }
}

function withPlace(body: (place: Place) => void): () => void {
  return () => {
    const place = new Place();
    try {
      body(place);
    } finally {
      rmSync(place.directory, { recursive: true, force: true });
    }
  };
}

const MPICH = { texts: { MPII_Version_string: '4.0.2' } };
const HIDDEN = { tail: 'x\0Wed Apr 17 15:30:02 CDT 2024\0\0\x004.2.1\0y' };

suite('linked MPI', (test) => {
  test('what is no program is said to be so', withPlace((place) => {
    place.put('bin/tool', '#! /usr/bin/python3 -s\nimport mpi4py\n');
    place.put('note', 'a text');
    place.put('old', elfFile({ needed: ['libmpi.so.40'] }).fill(1, 4, 5)); // 32 bits
    execFileSync('mkfifo', [join(place.directory, 'pipe')]);
    const { kind, interpreter, file } = place.find('tool');
    assert.equal([kind, interpreter, file], ['script', '/usr/bin/python3', join(place.directory, 'bin/tool')]);
    for (const name of ['./note', './old']) assert.is(place.find(name).kind, 'other');
    for (const name of ['note', './pipe', './bin', './none']) assert.is(place.find(name).kind, 'none');
    assert.is(place.find('/dev/zero').kind, 'none');
    place.put('plain', { needed: ['libc.so.6'] });
    place.put('usr/lib/libc.so.6', {});
    const plain = place.find('./plain');
    assert.equal([plain.kind, plain.library, plain.missing], ['elf', undefined, []]);
  }));

  test('libraries are looked for where the loader does: RPATH, LD_LIBRARY_PATH, RUNPATH, its cache, its directories',
    withPlace((place) => {
      const where = (program: ElfParts, libraries = ''): string | undefined => {
        place.put('bin/program', { needed: ['libmpi.so.40'], ...program });
        return place.find('program', libraries).libraryFile?.slice(place.directory.length + 1);
      };
      assert.is(where({}), undefined);
      place.put('usr/lib/libmpi.so.40', {});
      assert.is(where({}), 'usr/lib/libmpi.so.40');
      place.put('cached/libmpi.so.40', {});
      place.put('ld.so.cache', loaderCache([
        ['libmpi.so.40', '/no/such/file'], ['libmpi.so.40', join(place.directory, 'cached/libmpi.so.40')],
      ]));
      assert.is(where({}), 'cached/libmpi.so.40');
      place.put('run/libmpi.so.40', {});
      place.put('named/libmpi.so.40', {});
      const [run, named] = [join(place.directory, 'run'), join(place.directory, 'named')];
      assert.is(where({ runpath: `/no/such:\${ORIGIN}/../run` }), 'run/libmpi.so.40');
      assert.is(where({ runpath: run }, `:/no/such;${named}`), 'named/libmpi.so.40');
      assert.is(where({ rpath: run }, named), 'run/libmpi.so.40');
      assert.is(where({ rpath: named, runpath: run }), 'run/libmpi.so.40'); // RPATH is void beside RUNPATH.
      place.put('lib64/libmpi.so.40', {});
      assert.is(where({ rpath: '$ORIGIN/../$LIB' }), 'lib64/libmpi.so.40');
      place.put('run/libmpi.so.40', { machine: 3 });
      assert.is(where({ runpath: run }), 'cached/libmpi.so.40'); // Another machine's is passed over.
      place.put('named/libmpi.so.40', 'GROUP ( libmpi.so )');
      assert.is(where({}, named), 'cached/libmpi.so.40');
    }));

  test('through other libraries; what is missing is named, each once', withPlace((place) => {
    place.put('program', { needed: ['libsolver.so.3', 'libgone.so.1'], runpath: '$ORIGIN/lib' });
    place.put('lib/libsolver.so.3', { needed: ['libmpi.so.40', 'libgone.so.1', 'libm.so.6'], runpath: '$ORIGIN' });
    const gone = place.find('./program');
    assert.equal([gone.library, gone.via, gone.libraryFile], ['libmpi.so.40', 'libsolver.so.3', undefined]);
    assert.equal(gone.missing, ['libgone.so.1', 'libmpi.so.40', 'libm.so.6']);
    assert.equal(neededLibraries(join(place.directory, 'program')), ['libsolver.so.3', 'libgone.so.1']);
    // A library of Fortran comes first, and its version is that of the library behind it.
    place.put('lib/libmpi_mpifh.so.40', { needed: ['libmpi.so.40'], runpath: '$ORIGIN' });
    place.put('real.so', { texts: { ompi_version_string: '5.0.7' } });
    symlinkSync('../real.so', join(place.directory, 'lib/libmpi.so.40'));
    place.put('program', { needed: ['libmpi_mpifh.so.40'], runpath: '$ORIGIN/lib' });
    const { library, via, libraryFile, family, version } = place.find('./program');
    assert.equal([library, via, family, version], ['libmpi.so.40', undefined, 'Open MPI', '5.0.7']);
    assert.is(libraryFile, join(place.directory, 'real.so'));
  }));

  test('the family and the version of a library', withPlace((place) => {
    for (const [name, parts, wanted] of [
      ['libmpich.so.12', MPICH, 'MPICH 4.0.2'],
      ['libmpi.so.12', HIDDEN, 'MPICH 4.2.1'],
      ['libmpi.so.12', { tail: `${'-'.repeat(1_048_317)}${HIDDEN.tail}` }, 'MPICH 4.2.1'], // Across two reads.
      ['libmpi.so.12', {}, 'MPICH ?'],
      ['libmpi.so.12', { tail: `Intel(R) MPI Library 2021.11 for Linux${HIDDEN.tail}` }, 'Intel MPI 2021.11'],
      ['libmpi.so.12', { tail: `${HIDDEN.tail}Intel(R) MPI Library` }, 'Intel MPI ?'],
      ['libmpi.so.12', { tail: `MVAPICH2 Version:\t%s\0${HIDDEN.tail}` }, 'MVAPICH 4.2.1'],
      ['libmpi_gnu_112.so.12', { tail: 'CRAY MPICH version 8.1.25 (ANL' }, 'Cray MPICH 8.1.25'],
      ['libmpi.so.40', { texts: { ompi_version_string: '4.1.4' } }, 'Open MPI 4.1.4'],
      ['libmpi.so.12', { texts: { ompi_version_string: '1.10.7rc2' } }, 'Open MPI 1.10.7rc2'],
      ['libmpi.so.40', { texts: { ompi_version_string: 'no version' } }, 'Open MPI ?'],
      ['libmpi.so.20', {}, 'Open MPI ?'],
      ['libmpi_other.so.7', MPICH, 'unknown ?'],
    ] as const) assert.is(place.made(name, parts), wanted, name);
    place.put('lib/libmpir.so.12', MPICH);
    place.put('program', { needed: ['libmpir.so.12'], runpath: '$ORIGIN/lib' });
    assert.is(place.find('./program').library, undefined);
  }));

  test('files that lie cost no more than their size: nothing throws, hangs or grows', withPlace((place) => {
    const good = elfFile({
      needed: ['libmpi.so.40', 'liba.so'], rpath: '$ORIGIN/lib', runpath: '$ORIGIN/$LIB:$ORIGIN',
      texts: { ompi_version_string: '5.0.7', MPII_Version_string: '4.0.2' },
    });
    const cache = loaderCache([['libmpi.so.40', join(place.directory, 'libmpi.so.40')], ['liba.so', '/x']]);
    let state = 24;
    const draw = (below: number): number => (state = (state * 48_271) % 0x7fff_ffff) % below;
    const wrong = (bytes: Buffer): Buffer => {
      const copy = Buffer.from(bytes.subarray(0, draw(4) === 0 ? draw(bytes.length + 1) : bytes.length));
      for (let i = draw(6); i >= 0 && copy.length >= 8; i--) {
        const at = draw(copy.length - 7) & (draw(2) === 0 ? ~7 : ~0);
        if (draw(2) === 0) copy[at] = draw(256);
        else copy.writeBigUInt64LE([0n, 1n, 2n ** 63n, 2n ** 64n - 1n, 0x40_0000n, 2n ** 53n][draw(6)] as bigint, at);
      }
      return copy;
    };
    const { arrayBuffers } = process.memoryUsage();
    let found = 0;
    for (let i = 0; i < 400; i++) {
      place.put('program', wrong(good));
      place.put('libmpi.so.40', wrong(good));
      place.put('ld.so.cache', wrong(cache));
      if (place.find('./program').version === '5.0.7') found += 1;
      neededLibraries(join(place.directory, 'program'));
    }
    assert.ok(found > 8, `${found} were still found`);
    const grown = process.memoryUsage().arrayBuffers - arrayBuffers;
    assert.ok(grown < 64 * 1024 * 1024, `${grown} bytes`);
  }), { timeoutMs: 60_000 });

  test('libraries that need each other, and many, end', withPlace((place) => {
    const name = (i: number): string => `lib${i}.so`;
    const all = Array.from({ length: 300 }, (_, i) => name(i));
    for (const each of all) place.put(`lib/${each}`, { needed: all, runpath: '$ORIGIN' });
    place.put('program', { needed: [name(0)], runpath: '$ORIGIN/lib' });
    assert.is(place.find('./program').library, undefined);
    place.put('program', { needed: all.map((each) => `no-${each}`) });
    assert.is(place.find('./program').missing.length, 8);
  }), { timeoutMs: 60_000 });

  for (const library of MPI_LIBRARIES) {
    const directory = /LD_LIBRARY_PATH=([^:]*)/u.exec(library.options.join(' '))?.[1] ?? '';
    test.skipIf(library.why !== undefined, library.why ?? '', `${library.title}: found as the loader finds it`, () => {
      const found = linkedMpi(library.program(), { wdir: '/', path: '', libraries: directory });
      assert.is(found.family, library.protocol === 'pmi1' ? 'MPICH' : 'Open MPI');
      assert.match(found.version ?? '', /^\d+\.\d+\.\d+/u);
      assert.ok(found.libraryFile?.startsWith(directory), found.libraryFile);
      assert.equal(found.missing, []);
    }, { timeoutMs: 60_000 });
  }
});
