/** A plot of lines over two logarithmic axes, as SVG text. The same input gives the same bytes. */

const [WIDTH, HEIGHT] = [720, 440];
const BOX = { left: 64, right: 540, top: 40, bottom: 390 };
const COLOURS = ['#b00020', '#777777', '#0b6e4f', '#1f5fbf', '#c77700', '#7a3db8'];

/** `series`: `{ name, points: [[x, y], …] }`. `axes`: `{ x: { title, ticks }, y: { title, ticks } }`. */
export function plot(series, { x, y }) {
  const at = scales(x.ticks, y.ticks);
  const lines = series.map(({ points }, i) => {
    const path = points.map(([px, py]) => `${at.x(px)},${at.y(py)}`).join('\n');
    return `<polyline fill="none" stroke="${COLOURS[i]}" stroke-width="2" points="${path}"/>`;
  });
  const legend = series.map(({ name }, i) => {
    const top = BOX.top + 14 + 20 * i;
    return `<rect x="${BOX.right + 14}" y="${top - 8}" width="14" height="4" fill="${COLOURS[i]}"/>`
      + text(BOX.right + 34, top, name, 'start');
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}"`,
    ' font-family="sans-serif" font-size="12">',
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#ffffff"/>`,
    ...x.ticks.map((tick) => gridLine(at.x(tick), BOX.top, at.x(tick), BOX.bottom)
      + text(at.x(tick), BOX.bottom + 18, tick, 'middle')),
    ...y.ticks.map((tick) => gridLine(BOX.left, at.y(tick), BOX.right, at.y(tick))
      + text(BOX.left - 8, at.y(tick) + 4, tick, 'end')),
    text((BOX.left + BOX.right) / 2, BOX.bottom + 40, x.title, 'middle'),
    text(8, BOX.top - 20, y.title, 'start'),
    ...lines,
    ...legend,
    '</svg>',
    '',
  ].join('\n');
}

function scales(xTicks, yTicks) {
  const scale = (ticks, from, to) => {
    const [low, high] = [Math.log(ticks[0]), Math.log(ticks.at(-1))];
    return (value) => (from + ((Math.log(value) - low) / (high - low)) * (to - from)).toFixed(1);
  };
  return { x: scale(xTicks, BOX.left, BOX.right), y: scale(yTicks, BOX.bottom, BOX.top) };
}

function gridLine(x1, y1, x2, y2) {
  return `<line x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}" stroke="#dddddd"/>`;
}

function text(x, y, words, anchor) {
  return `<text x="${x}" y="${y}" text-anchor="${anchor}">${words}</text>`;
}
