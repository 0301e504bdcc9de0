/** Reports in a real browser: what it shows, what it must not do. */

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assert, findBrowser, patient, renderPage, suite, takePicture } from '@stci/testkit';
import { reportPage } from '@stci/finject/experiment';
import { exampleRun } from './example.js';
import { readPng } from './picture.js';

const browser = findBrowser();
const OPTIONS = { timeoutMs: patient(60_000) };

const HOSTILE = '<script>document.documentElement.dataset.hit=1</script><img src="http://evil.example/x" '
  + 'onerror="document.documentElement.dataset.hit=2"></pre><svg onload="document.documentElement.dataset.hit=3">\n';

/** Measured in the page, which for this one may run this script. */
const PROBE = `<script>
addEventListener('load', () => {
  const box = (element) => { const { width, height } = element.getBoundingClientRect(); return [width, height]; };
  const all = (selector) => [...document.querySelectorAll(selector)].map(box);
  const texts = [...document.querySelectorAll('figure.distribution svg text, figure.topology svg text')];
  const spilled = texts.filter((text) => {
    const [own, outer] = [text.getBoundingClientRect(), text.closest('svg').getBoundingClientRect()];
    return own.left < outer.left - 1 || own.right > outer.right + 1;
  });
  const out = { timeline: all('details[open] figure.timeline svg'), topology: all('figure.topology svg'),
    distribution: all('figure.distribution svg'), h1: all('h1'), spilled: spilled.map((one) => one.textContent),
    page: document.documentElement.scrollWidth, requests: performance.getEntriesByType('resource').length };
  document.documentElement.dataset.probe = JSON.stringify(out);
});
</script>`;

interface Probe {
  readonly timeline: readonly (readonly [number, number])[];
  readonly topology: readonly (readonly [number, number])[];
  readonly distribution: readonly (readonly [number, number])[];
  readonly h1: readonly (readonly [number, number])[];
  readonly spilled: readonly string[];
  readonly page: number;
  readonly requests: number;
}

async function probe(page: string, width: number): Promise<{ readonly probe: Probe; readonly dom: string }> {
  const policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";
  assert.ok(page.includes(policy), 'the page has its policy');
  // Without the policy, so that what it would have prevented shows.
  const open = page.replace(policy, '').replace('</body>', `${PROBE}</body>`);
  const { dom } = await renderPage(browser ?? '', open, { width });
  const found = /data-probe="([^"]*)"/.exec(dom)?.[1];
  assert.ok(found !== undefined, 'the probe has run');
  return { probe: JSON.parse(found.replace(/&quot;/g, '"').replace(/&amp;/g, '&')) as Probe, dom };
}

suite('report in a browser', (test) => {
  const why = browser === undefined ? 'no browser is installed (Debian: apt-get install chromium)' : '';
  const inBrowser = (name: string, body: () => Promise<void>): void =>
    test.skipIf(why !== '', why, name, body, OPTIONS);

  inBrowser('everything is visible, within the page, and nothing is requested', async () => {
    const page = reportPage([exampleRun()]);
    for (const width of [1200, 700]) {
      const { probe: found, dom } = await probe(page, width);
      assert.is(found.requests, 0);
      assert.is(found.timeline.length, 3);
      assert.is(found.topology.length, 1);
      assert.is(found.distribution.length, 4);
      for (const [w, h] of [...found.timeline, ...found.topology, ...found.distribution, ...found.h1]) {
        assert.ok(w > width * 0.5 && w <= width && h > 20, `${w} × ${h}`);
      }
      assert.ok(found.page <= width, `the page is ${found.page} wide in a window of ${width}`);
      assert.equal(found.spilled, []);
      assert.match(dom, 'median');
    }
  });

  inBrowser('what a target wrote is text: no script runs, nothing is fetched, even without policy', async () => {
    const name = HOSTILE.trim();
    const run = exampleRun({ repeats: 2, output: HOSTILE, name, configurations: { [name]: 100 } });
    const page = reportPage([run]);
    const { probe: found, dom } = await probe(page, 1200);
    assert.not(/<html[^>]*data-hit/.test(dom), 'a script of the target ran');
    assert.is(found.requests, 0);
    assert.not(/<img/.test(dom));
    assert.match(dom, '&lt;script&gt;document');
    const { log } = await renderPage(browser ?? '', page);
    assert.is(log, '');
  });

  inBrowser('a picture is not blank, in light and dark', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'stci-picture-'));
    try {
      const page = reportPage([exampleRun({ isCutOff: true, isSimulated: true })]);
      const pages = { light: '251,251,250', dark: '20,23,26' };
      for (const [scheme, background] of Object.entries(pages)) {
        const path = join(directory, `${scheme}.png`);
        await takePicture(browser ?? '', page, path, { width: 1200, height: 1600, isDark: scheme === 'dark' });
        const picture = readPng(readFileSync(path));
        assert.is(picture.width, 1200);
        const most = [...picture.colours].sort((a, b) => b[1] - a[1])[0];
        assert.is(most?.[0], background, scheme);
        assert.ok((most?.[1] ?? 0) < 0.95 * picture.width * picture.height, 'something is drawn');
        assert.ok(picture.colours.size > 100, `${picture.colours.size} colours`);
      }
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  });
});
