/** The style sheet of reports: light and dark by the reader's setting, plain on paper. */

export const STYLE = `
:root { color-scheme: light dark;
  --page: #fbfbfa; --card: #fff; --ink: #1d2126; --soft: #59616b; --line: #dfe2e6; --wash: #f1f3f5;
  --fault: #c8401a; --unseen: #f3b38f; --known: #4a86c5; --good: #1f8a63; --warn: #b86e00; --violet: #8a5aa8;
  --grey: #98a1ab; --ember: #fbe9e2; --mint: #e2f2ec; }
@media (prefers-color-scheme: dark) { :root {
  --page: #14171a; --card: #1b1f23; --ink: #e6e9ec; --soft: #9ba4ae; --line: #343a41; --wash: #23282d;
  --fault: #f0774f; --unseen: #8a4a2f; --known: #6fa8dc; --good: #56bd93; --warn: #e0a040; --violet: #b78bd4;
  --grey: #737c86; --ember: #3a231b; --mint: #17322a; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", "Noto Sans", "DejaVu Sans", sans-serif; }
main { max-width: 1100px; margin: 0 auto; padding: 32px 24px 64px; }
h1 { font-size: 27px; line-height: 1.2; margin: 0 0 4px; letter-spacing: -.01em; overflow-wrap: anywhere; }
h2 { font-size: 18px; margin: 40px 0 10px; padding-top: 14px; border-top: 1px solid var(--line); }
h3 { font-size: 15px; margin: 22px 0 6px; }
p { margin: 6px 0; max-width: 78ch; }
.sub, .note, figcaption { color: var(--soft); }
.note, figcaption { font-size: 13px; }
.badge { display: inline-block; padding: 1px 9px; border-radius: 10px; font-size: 13px; font-weight: 600;
  border: 1px solid currentColor; vertical-align: 3px; }
.ok { color: var(--good); } .bad { color: var(--fault); } .doubt { color: var(--warn); }
.alert { border-left: 4px solid var(--fault); background: var(--ember); padding: 10px 14px; margin: 14px 0;
  font-weight: 600; max-width: none; }
.alert.sim { border-color: var(--violet); background: var(--wash); }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(165px, 1fr)); gap: 12px; margin: 20px 0 0; }
.tile { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 11px 14px; }
.tile b { display: block; font-size: 22px; line-height: 1.3; font-variant-numeric: tabular-nums; }
.tile span { display: block; color: var(--soft); font-size: 13px; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 13.5px; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: 5px 10px 5px 0; border-bottom: 1px solid var(--line); vertical-align: top; }
th { font-weight: 600; color: var(--soft); white-space: nowrap; }
.num { text-align: right; white-space: nowrap; }
td.wide { overflow-wrap: anywhere; min-width: 12em; }
td.mid, tr.mid td { vertical-align: middle; }
figure { margin: 10px 0 18px; background: var(--card); border: 1px solid var(--line); border-radius: 8px;
  padding: 12px 14px; }
svg { display: block; width: 100%; height: auto; }
td svg { width: 300px; }
svg text { font: 12px system-ui, -apple-system, "Segoe UI", "Noto Sans", "DejaVu Sans", sans-serif; fill: var(--ink);
  font-variant-numeric: tabular-nums; }
svg text.axis, svg text.small { fill: var(--soft); font-size: 11px; } svg text.end { text-anchor: end; }
svg text.middle { text-anchor: middle; }
.grid { stroke: var(--line); stroke-width: 1; } .edge { stroke: var(--grey); stroke-width: 1.2; fill: none; }
.edge.hit { stroke: var(--fault); stroke-width: 3; }
.lane { fill: var(--wash); } .job { fill: var(--mint); } .ending { fill: var(--line); }
.unseen { fill: var(--unseen); } .down { fill: var(--known); opacity: .35; } .force { fill: none; stroke: var(--fault);
  stroke-width: 1.2; stroke-dasharray: 4 3; }
.m-fault { fill: var(--fault); } .m-seen { fill: var(--known); } .m-told { stroke: var(--known); stroke-width: 2; }
.m-back { fill: var(--good); } .m-mark { stroke: var(--soft); stroke-width: 1; } .m-doubt { fill: var(--warn); }
.dot { fill: var(--known); opacity: .45; } .box { fill: var(--known); opacity: .16; }
.median { stroke: var(--ink); stroke-width: 2.4; } .interval { stroke: var(--ink); stroke-width: 1.4; }
.p95 { stroke: var(--fault); stroke-width: 1.6; }
.node { fill: var(--card); stroke: var(--grey); stroke-width: 1.4; } .node.root { fill: var(--ink); stroke:
  var(--ink); }
.node.hit { fill: var(--fault); stroke: var(--fault); } .cell { fill: var(--line); } .cell.hit { fill: var(--fault); }
.masked { fill: var(--grey); } .recovered { fill: var(--good); } .aborted { fill: var(--known); }
.missed { fill: var(--fault); } .hung { fill: var(--violet); } .false-alarm { fill: var(--warn); }
.failed { fill: var(--ink); } .cut-off { fill: var(--soft); } .no-fault { fill: var(--line); stroke: var(--grey); }
.whisker { stroke: var(--ink); stroke-width: 1.3; } .track { fill: var(--wash); }
svg.key { display: inline-block; width: 11px; height: 11px; margin: 0 6px 0 3px; }
table.checks { width: auto; margin-top: 14px; } table.checks th, table.checks td { padding-right: 28px; }
.legend { display: flex; flex-wrap: wrap; gap: 4px 18px; font-size: 13px; color: var(--soft); align-items: center; }
.legend span { display: inline-flex; align-items: center; } .legend svg { width: 16px; height: 14px; margin-right:
  6px; }
details { border: 1px solid var(--line); border-radius: 8px; background: var(--card); margin: 8px 0; padding: 8px
  14px; }
details figure { border: 0; padding: 0; margin: 8px 0; }
summary { cursor: pointer; } summary .note { float: right; }
pre { overflow: auto; max-height: 420px; background: var(--wash); padding: 10px 12px; border-radius: 6px;
  font: 12.5px/1.45 ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; white-space: pre-wrap;
  overflow-wrap: anywhere; }
code { font: 13px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; overflow-wrap: anywhere; }
nav { margin-top: 14px; font-size: 13.5px; display: flex; flex-wrap: wrap; gap: 2px 16px; }
a { color: var(--known); text-decoration: none; } a:hover { text-decoration: underline; }
ul { margin: 6px 0; padding-left: 20px; } li { overflow-wrap: anywhere; }
footer { margin-top: 48px; color: var(--soft); font-size: 13px; }
@media print { body { background: #fff; } main { max-width: none; padding: 0; } nav { display: none; }
  figure, details { break-inside: avoid; } }
`;
