/** An index of Python packages and an archive of Debian packages, with packages made for the test, over plain HTTP. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export type PythonPackage = {
  /** As it is imported; the package is called the same with dashes. */
  readonly module: string;
  readonly version: string;
  readonly requires?: readonly string[];
  readonly text: string;
};

/** A program of that name in /usr/bin. */
export type DebianPackage = { readonly name: string; readonly version: string; readonly script: string };

export type PackageIndex = AsyncDisposable & {
  /** Lines of a build file after which pip and apt know this index and nothing else. */
  readonly settings: readonly string[];
};

/** `python` makes the archives. */
export async function startPackageIndex(options: {
  host: string;
  python: string;
  pythonPackages: readonly PythonPackage[];
  debianPackages: readonly DebianPackage[];
}): Promise<PackageIndex> {
  const { host, python, pythonPackages, debianPackages } = options;
  const folder = mkdtempSync(join(tmpdir(), 'svc-index-'));
  const files = new Map<string, Buffer>();
  try {
    for (const wanted of pythonPackages) addWheel(files, { folder, python, wanted });
    const paragraphs = debianPackages.map((wanted) => addDeb(files, { folder, wanted }));
    files.set('/apt/Packages', Buffer.from(paragraphs.join('\n')));
  } finally {
    rmSync(folder, { recursive: true });
  }
  const server = createServer((request, response) => {
    // apt asks for `/apt/./Packages`.
    const { pathname } = new URL(request.url ?? '/', 'http://index');
    const body = files.get(decodeURIComponent(pathname));
    response.writeHead(body ? 200 : 404, {
      'content-type': pathname.endsWith('/') ? 'text/html' : 'application/octet-stream',
    });
    response.end(body);
  });
  await once(server.listen(0, host), 'listening');
  const { port } = server.address() as AddressInfo;
  const url = `http://${host}:${port}`;
  return {
    settings: [
      `RUN printf '[global]\\nindex-url = ${url}/simple/\\ntrusted-host = ${host}\\n' > /etc/pip.conf`,
      `RUN rm -rf /etc/apt/sources.list /etc/apt/sources.list.d/* && echo 'deb [trusted=yes] ${url}/apt ./' > /etc/apt/sources.list`,
    ],
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

type Files = Map<string, Buffer>;

const MAKE_ARCHIVE = `
import json, sys, zipfile
with zipfile.ZipFile(sys.argv[1], "w") as archive:
    for name, text in json.load(sys.stdin).items():
        archive.writestr(name, text)
`;

function addWheel(files: Files, { folder, python, wanted }: { folder: string; python: string; wanted: PythonPackage }) {
  const { module, version, requires = [], text } = wanted;
  const name = module.replaceAll('_', '-');
  const about = `${module}-${version}.dist-info`;
  const metadata = ['Metadata-Version: 2.1', `Name: ${name}`, `Version: ${version}`];
  const content = {
    [`${module}.py`]: text,
    [`${about}/METADATA`]: `${[...metadata, ...requires.map((other) => `Requires-Dist: ${other}`)].join('\n')}\n`,
    [`${about}/WHEEL`]: 'Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
    [`${about}/RECORD`]: [`${module}.py`, ...['METADATA', 'WHEEL', 'RECORD'].map((file) => `${about}/${file}`)]
      .map((path) => `${path},,\n`)
      .join(''),
  };
  const wheel = `${module}-${version}-py3-none-any.whl`;
  const path = join(folder, wheel);
  execFileSync(python, ['-c', MAKE_ARCHIVE, path], { input: JSON.stringify(content) });
  files.set(`/simple/${name}/`, Buffer.from(`<!DOCTYPE html><a href="../../${wheel}">${wheel}</a>`));
  files.set(`/${wheel}`, readFileSync(path));
}

/** Its paragraph in the list of packages. */
function addDeb(files: Files, { folder, wanted }: { folder: string; wanted: DebianPackage }): string {
  const { name, version, script } = wanted;
  const root = join(folder, name);
  const control = `Package: ${name}\nVersion: ${version}\nArchitecture: all\nMaintainer: test <test@example.com>\nDescription: test\n`;
  for (const part of ['DEBIAN', 'usr/bin']) mkdirSync(join(root, part), { recursive: true, mode: 0o755 });
  writeFileSync(join(root, 'DEBIAN', 'control'), control);
  writeFileSync(join(root, 'usr/bin', name), script);
  chmodSync(join(root, 'usr/bin', name), 0o755);
  const file = `${name}_${version}_all.deb`;
  execFileSync('dpkg-deb', ['--build', '--root-owner-group', root, join(folder, file)], { stdio: 'pipe' });
  const bytes = readFileSync(join(folder, file));
  files.set(`/apt/${file}`, bytes);
  const sum = createHash('sha256').update(bytes).digest('hex');
  return `${control}Filename: ./${file}\nSize: ${bytes.length}\nSHA256: ${sum}\n`;
}
