/** Of the report's page: it has no resources outside of itself. */
export const PAGE_STYLE = `
:root {
  color-scheme: light dark;
  --page: #f6f7f9; --card: #ffffff; --text: #1c2430; --soft: #5b6675; --line: #e1e5ea; --code: #f0f2f5;
  --none: #1f8a4c; --fix: #2f6fd0; --edit: #b26a00; --rework: #c0392b; --link: #2f6fd0;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #12161c; --card: #1a2029; --text: #e4e9f0; --soft: #98a4b3; --line: #2b333f; --code: #232b36;
    --none: #4cc27f; --fix: #78a9f5; --edit: #e5a64a; --rework: #ef7f73; --link: #78a9f5;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main { max-width: 1080px; margin: 0 auto; padding: 40px 24px 80px; }
h1 { font-size: 26px; line-height: 1.2; margin: 0 0 4px; overflow-wrap: anywhere; }
h2 { font-size: 18px; margin: 40px 0 12px; }
p { margin: 0 0 12px; }
.soft { color: var(--soft); }
code, .place { font: 13px/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
code { background: var(--code); padding: 1px 5px; border-radius: 4px; overflow-wrap: anywhere; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(160px, 1fr)); gap: 12px; margin: 28px 0 16px; }
.figure, .card, details { background: var(--card); border: 1px solid var(--line); border-radius: 10px; }
.figure { padding: 14px 16px; }
.figure b { display: block; font-size: 26px; line-height: 1.2; font-weight: 650; font-variant-numeric: tabular-nums; }
.figure span { color: var(--soft); font-size: 13px; }
.bar { display: flex; gap: 2px; height: 12px; border-radius: 6px; overflow: hidden; margin: 8px 0; background: var(--line); }
.bar i { display: block; }
.legend { display: flex; flex-wrap: wrap; gap: 4px 20px; font-size: 13px; color: var(--soft); padding: 0; margin: 0; list-style: none; }
.legend i { display: inline-block; width: 10px; height: 10px; border-radius: 3px; margin-right: 6px; }
.is-none { background: var(--none); } .is-fix { background: var(--fix); } .is-edit { background: var(--edit); } .is-rework { background: var(--rework); }
.word { font-weight: 600; font-size: 13px; white-space: nowrap; }
.word-none { color: var(--none); } .word-fix { color: var(--fix); } .word-edit { color: var(--edit); } .word-rework { color: var(--rework); }
.card { padding: 4px 18px; }
.card > div { padding: 12px 0; border-top: 1px solid var(--line); }
.card > div:first-child { border-top: 0; }
.card p { margin: 2px 0 0; color: var(--soft); }
details { margin: 0 0 8px; }
summary { display: grid; grid-template-columns: minmax(0, 1fr) auto 84px; gap: 16px; align-items: baseline; padding: 11px 16px; cursor: pointer; list-style: none; }
summary::-webkit-details-marker { display: none; }
summary::before { content: ""; }
summary { grid-template-columns: 12px minmax(0, 1fr) auto 60px; }
summary::before { content: "›"; color: var(--soft); transition: transform .15s; }
details[open] > summary::before { transform: rotate(90deg); }
summary:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; border-radius: 10px; }
summary .place { overflow-wrap: anywhere; }
summary .soft { font-size: 13px; text-align: right; }
.inside { padding: 0 16px 14px 44px; }
.inside h3 { font-size: 13px; margin: 14px 0 4px; color: var(--soft); font-weight: 600; }
ul.plain { margin: 0; padding: 0; list-style: none; }
ul.plain li { padding: 3px 0; overflow-wrap: anywhere; }
table { border-collapse: collapse; width: 100%; font-size: 14px; }
td, th { text-align: left; padding: 5px 16px 5px 0; border-top: 1px solid var(--line); vertical-align: top; }
th { border-top: 0; color: var(--soft); font-weight: 600; font-size: 13px; }
td.number { font-variant-numeric: tabular-nums; }
@media (max-width: 640px) { summary { grid-template-columns: 12px minmax(0, 1fr) auto; } summary .soft { display: none; } .inside { padding-left: 16px; } }
@media print { body { background: none; } details { break-inside: avoid; } }
`;
