/** The report as one HTML page: no scripts, no resources outside of itself, in the colours the reader prefers. */
import { basename, resolve } from 'node:path';
import { escapeHtml } from '@svc/web/html.ts';
import { count } from '../output/wording.ts';
import { VERSION } from '../version.ts';
import { PAGE_STYLE } from './page-style.ts';
import { EFFORT_WORDS, kindOf } from './print-report.ts';
import { EFFORTS } from './report.ts';
import type { CheckReport, CheckedDag, CheckedFile } from './report.ts';

const POLICY = "default-src 'none'; style-src 'unsafe-inline'";

export function renderPage(report: CheckReport, now: Date): string {
  const name = basename(resolve(report.path));
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<title>${escapeHtml(name)}: svc check</title>
<style>${PAGE_STYLE}</style>
</head>
<body>
<main>
<h1>${escapeHtml(name)}</h1>
<p class="soft">How this repository runs on svc, compared with Airflow 3.2.2. Made by svc ${escapeHtml(VERSION)} on ${now.toISOString().slice(0, 10)}.</p>
${figures(report)}
${efforts(report)}
${nextSteps(report)}
${differences(report)}
<h2>Files</h2>
${report.files.map((file) => fileSection(file)).join('\n')}
</main>
</body>
</html>
`;
}

const figure = (value: string, label: string): string =>
  `<div class="figure"><b>${value}</b><span>${label}</span></div>`;

function figures({ totals }: CheckReport): string {
  return `<div class="figures">
${figure(`${totals.loads_percent} %`, `${totals.loads} of ${count(totals.files, 'file')} load`)}
${figure(`${totals.runs_as_on_airflow} / ${totals.dags}`, 'DAGs run as on Airflow')}
${figure(String(totals.fixable), 'places <code>svc fix</code> rewrites')}
${figure(String(totals.by_hand + totals.gone), 'places to change by hand')}
${figure(String(totals.packages_to_add.length), 'packages to add')}
</div>`;
}

function efforts({ totals, effort }: CheckReport): string {
  const words = EFFORTS.filter((word) => totals.effort[word] > 0);
  const bars = words.map((word) => `<i class="is-${word}" style="flex:${totals.effort[word]}"></i>`).join('');
  const legend = words.map(
    (word) => `<li><i class="is-${word}"></i>${totals.effort[word]} ${word}: ${EFFORT_WORDS[word]}</li>`,
  );
  return `<p>Effort left: <span class="word word-${effort}">${effort}</span>, ${EFFORT_WORDS[effort]}.</p>
<div class="bar" role="img" aria-label="Files by effort">${bars}</div>
<ul class="legend">${legend.join('')}</ul>`;
}

function nextSteps({ totals, path, files }: CheckReport): string {
  const steps: string[] = [];
  if (totals.fixable > 0) {
    steps.push(
      step(
        `Run <code>svc fix ${escapeHtml(path)} --write</code>`,
        `It rewrites ${count(totals.fixable, 'place')}; comments and formatting stay.`,
      ),
    );
  }
  if (totals.packages_to_add.length > 0) {
    const names = totals.packages_to_add.map((name) => `<code>${escapeHtml(name)}</code>`).join(' ');
    steps.push(step('Add packages to the requirements', names));
  }
  const gone = files.filter((file) => file.gone.length > 0).length;
  if (gone > 0) {
    steps.push(
      step(
        'Replace what is gone',
        `${count(totals.gone, 'use')} in ${count(gone, 'file')}; each says below what to write instead.`,
      ),
    );
  }
  if (totals.by_hand > 0) {
    steps.push(
      step(
        'Change by hand what could mean something else',
        `${count(totals.by_hand, 'place')}, with file and line below.`,
      ),
    );
  }
  if (steps.length === 0) steps.push(step('Nothing to do', `Run <code>svc lite ${escapeHtml(path)}</code>.`));
  return `<h2>What to do next</h2>\n<div class="card">${steps.join('')}</div>`;
}

const step = (title: string, text: string): string => `<div><b>${title}</b><p>${text}</p></div>`;

function differences({ files }: CheckReport): string {
  const dags = files.flatMap((file) => file.dags);
  const known = new Map(
    dags.flatMap(({ differs }) => differs.map((difference) => [difference.id, difference] as const)),
  );
  if (known.size === 0) return '';
  const rows = [...known.values()].map(({ id, title, detail, since }) => {
    const users = dags.filter(({ differs }) => differs.some((difference) => difference.id === id)).length;
    const against = since === 'airflow-3' ? 'differs from Airflow 3.2' : 'changed between Airflow 2 and 3';
    return step(
      `${escapeHtml(title)} <span class="soft">(${against}; ${count(users, 'DAG')})</span>`,
      escapeHtml(detail),
    );
  });
  return `<h2>What behaves otherwise</h2>\n<div class="card">${rows.join('')}</div>`;
}

function fileSection(file: CheckedFile): string {
  const facts = [
    file.loads ? '' : 'does not load',
    file.dags.length > 0 ? count(file.dags.length, 'DAG') : file.is_dag_file ? '' : kindOf(file),
    file.gone.length > 0 ? `${file.gone.length} gone` : '',
    file.fixable.length > 0 ? `${file.fixable.length} to rewrite` : '',
    file.by_hand.length > 0 ? `${file.by_hand.length} by hand` : '',
  ].filter((text) => text !== '');
  // What stops the file is said with the reason why it does not load.
  const stops = new Set(file.problems.filter((problem) => problem.file === file.file).map(({ line }) => line));
  const inside = [
    problemList(file),
    dagTable(file.dags),
    placeList(
      'Gone',
      file.gone.filter(({ line }) => !stops.has(line)),
    ),
    placeList('To change by hand', file.by_hand),
    packageList(file),
    noteList(file),
    rewriteList(file),
  ].filter((text) => text !== '');
  return `<details${file.loads && file.gone.length === 0 ? '' : ' open'}>
<summary><span class="place">${escapeHtml(file.file)}</span><span class="soft">${facts.join(' · ')}</span><span class="word word-${file.effort}">${file.effort}</span></summary>
<div class="inside">${inside.join('\n') || '<p class="soft">Nothing to do.</p>'}</div>
</details>`;
}

function problemList({ problems }: CheckedFile): string {
  if (problems.length === 0) return '';
  const items = problems.map(({ file, line, message, instead }) => {
    const place = line === null ? file : `${file}:${line}`;
    return `<li><span class="place">${escapeHtml(place)}</span><br>${escapeHtml(message)}${instead ? `<br><span class="soft">${escapeHtml(instead)}</span>` : ''}</li>`;
  });
  return `<h3>Does not load</h3><ul class="plain">${items.join('')}</ul>`;
}

function dagTable(dags: readonly CheckedDag[]): string {
  if (dags.length === 0) return '';
  const rows = dags.map(({ dag_id: id, tasks, schedule, differs }) => {
    const points = differs.map(({ title, tasks: names }) =>
      escapeHtml(
        names.length > 0 ? `${title} (${names.slice(0, 3).join(', ')}${names.length > 3 ? ', …' : ''})` : title,
      ),
    );
    return `<tr><td><code>${escapeHtml(id)}</code></td><td class="number">${tasks}</td><td>${escapeHtml(schedule ?? 'none')}</td><td>${points.join('<br>') || 'as on Airflow'}</td></tr>`;
  });
  return `<table><tr><th>DAG</th><th>Tasks</th><th>Schedule</th><th>Runs</th></tr>${rows.join('')}</table>`;
}

function placeList(title: string, spellings: CheckedFile['gone']): string {
  if (spellings.length === 0) return '';
  const items = spellings.map(
    ({ line, message }) => `<li><span class="place">line ${line}</span> ${escapeHtml(message)}</li>`,
  );
  return `<h3>${title}</h3><ul class="plain">${items.join('')}</ul>`;
}

function packageList({ packages }: CheckedFile): string {
  if (packages.length === 0) return '';
  const items = packages.map(
    ({ name, line, listed }) =>
      `<li><code>${escapeHtml(name)}</code> <span class="soft">line ${line}, ${listed ? 'in the requirements' : 'not in the requirements'}</span></li>`,
  );
  return `<h3>Needs</h3><ul class="plain">${items.join('')}</ul>`;
}

function noteList({ notes }: CheckedFile): string {
  if (notes.length === 0) return '';
  const items = notes.map(
    ({ line, message }) =>
      `<li>${line === null ? '' : `<span class="place">line ${line}</span> `}${escapeHtml(message)}</li>`,
  );
  return `<h3>Notes</h3><ul class="plain">${items.join('')}</ul>`;
}

function rewriteList({ fixable }: CheckedFile): string {
  if (fixable.length === 0) return '';
  const items = fixable.map(({ line, old, new: now }) => {
    const change =
      now === ''
        ? `<code>${escapeHtml(old)}</code> goes`
        : `<code>${escapeHtml(old)}</code> → <code>${escapeHtml(now)}</code>`;
    return `<li><span class="place">line ${line}</span> ${change}</li>`;
  });
  return `<h3>Rewritten by svc fix</h3><ul class="plain">${items.join('')}</ul>`;
}
