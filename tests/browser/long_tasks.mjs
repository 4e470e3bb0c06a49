// Scrolls up a room of 20,000 messages and prints the durations of the page's tasks as JSON: `node long_tasks.mjs
// [runs]`. `longest` is the time that a reader waits, with the present load of this machine: use the median of several
// runs. `cpu` is the CPU time of the page's main thread in its longest tasks. It changes little while other programs
// run.

import { DESKTOP, launch, person } from './browser.mjs';
import { hostPage } from './host_page.mjs';
import { longHistory, SITE, textOf } from './long_history.mjs';
import { Widget } from './widget.mjs';

const COUNT = 20_000;
const RUNS = Number(process.argv[2] ?? 5);
/** The number of wheel steps in a run. Each step is half a screen. */
const STEPS = 120;

const what = { owner: 'ana', contacts: 0, conversations: 0, rooms: { '/big': COUNT } };
const [browser, { kith }] = await Promise.all([launch(), longHistory(what)]);
const host = await hostPage(kith, SITE);
const runs = [];
for (let run = 0; run < RUNS; run++) runs.push(await scrollUp());
console.log(
  JSON.stringify({
    runs,
    medianOfLongest: middle(runs.map(one => one.longest)),
    medianOfCpu: middle(runs.map(one => one.cpu[0])),
  }),
);
await browser.close();
await host.close();
await kith.stop();

async function scrollUp() {
  const context = await person(browser, DESKTOP);
  const page = await context.newPage();
  await page.goto(`${host.origin}/?as=ana`);
  const widget = new Widget(page);
  await widget.show();
  await page.evaluate(() => window.Kith.openRoom('/big'));
  await widget.field.waitFor();
  await page.getByRole('button', { name: /^Jump to newest/ }).click();
  await page.locator('kith-widget [data-message]', { hasText: textOf(COUNT) }).waitFor();
  await page.locator('kith-widget [data-message]').nth(20).waitFor();
  await page.evaluate(() => {
    globalThis.tasks = [];
    new PerformanceObserver(list => {
      for (const one of list.getEntries()) globalThis.tasks.push(Math.round(one.duration));
    }).observe({ type: 'longtask' });
  });
  const box = await page.locator('kith-widget .history-scroller').boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  const cpu = await cpuOfTasks(context, page);
  for (let step = 0; step < STEPS; step++) {
    await page.mouse.wheel(0, -box.height / 2);
    await page.waitForTimeout(50);
  }
  const seen = await page.evaluate(() => {
    const root = document.querySelector('kith-widget').shadowRoot;
    const first = root.querySelector('[data-message] .body-text')?.textContent ?? '';
    return { tasks: globalThis.tasks, first, elements: root.querySelectorAll('[data-message]').length };
  });
  const ofThread = await cpu();
  await context.close();
  const tasks = seen.tasks.sort((a, b) => b - a);
  return {
    longest: tasks[0] ?? 0,
    over50: tasks.length,
    cpu: ofThread.slice(0, 5),
    next: tasks.slice(1, 5),
    first: seen.first,
    elements: seen.elements,
  };
}

/** Starts to record the CPU time of the page's tasks, in milliseconds, longest first. */
async function cpuOfTasks(context, page) {
  const session = await context.newCDPSession(page);
  const events = [];
  session.on('Tracing.dataCollected', ({ value }) => events.push(...value));
  await session.send('Tracing.start', {
    transferMode: 'ReportEvents',
    traceConfig: { includedCategories: ['toplevel', 'devtools.timeline'] },
  });
  return async () => {
    const ended = new Promise(resolve => session.once('Tracing.tracingComplete', resolve));
    await session.send('Tracing.end');
    await ended;
    const threadOf = one => `${one.pid} ${one.tid}`;
    // The thread that runs the page's scroll handlers is its main thread.
    const main = events.find(one => one.name === 'EventDispatch' && one.args.data?.type === 'scroll');
    return events
      .filter(one => one.name.endsWith('RunTask') && one.tdur && threadOf(one) === threadOf(main))
      .map(one => Math.round(one.tdur / 1_000))
      .sort((a, b) => b - a);
  };
}

function middle(values) {
  return values.sort((a, b) => a - b)[Math.floor(values.length / 2)];
}
