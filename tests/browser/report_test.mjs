// Opens the reports that make_reports writes in Chromium.
//   node report_test.mjs DIRECTORY_OF_NODE_MODULES MAKE_REPORTS
// tests/browser/CMakeLists.txt says how ctest runs it.

import assert from "node:assert/strict";
import {execFileSync} from "node:child_process";
import {mkdtempSync, readdirSync, rmSync, statSync} from "node:fs";
import {createRequire} from "node:module";
import {tmpdir} from "node:os";
import {join, resolve} from "node:path";
import {after, before, test} from "node:test";
import {pathToFileURL} from "node:url";

const [modules, makeReports] = process.argv.slice(2);
const require = createRequire(join(resolve(modules), "package.json"));
const {chromium} = require("playwright-core");
const axe = require("axe-core");

const WIDE = {width: 1280, height: 900};
const NARROW = {width: 400, height: 800};
const SECTIONS = ["timeline", "gap", "utilisation", "policies", "predictions", "steals", "rules"];

let browser;
let directory;

before(async () => {
  directory = mkdtempSync(join(tmpdir(), "weft-reports-"));
  execFileSync(makeReports, [directory]);
  browser = await chromium.launch({executablePath: "/usr/bin/chromium"});
});

after(async () => {
  await browser?.close();
  rmSync(directory, {recursive: true, force: true});
});

// Opens a report, lets `work` use the page, and fails on anything that a page should not do:
// errors, messages, dialogs, requests.
async function open(name, work, {viewport = WIDE, colorScheme = "light", ...more} = {}) {
  const context = await browser.newContext({viewport, colorScheme, ...more});
  const page = await context.newPage();
  const address = pathToFileURL(join(directory, `${name}.html`)).href;
  const trouble = [];
  page.on("console", (message) => trouble.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => trouble.push(`error: ${error.stack}`));
  page.on("request", (request) => {
    if (request.url() !== address && request.url() !== "data:,")
      trouble.push(`request: ${request.url()}`);
  });
  page.on("dialog", async (dialog) => {
    trouble.push(`dialog: ${dialog.message()}`);
    await dialog.dismiss();
  });
  await page.goto(address);
  await drawn(page);
  await work(page);
  await context.close();
  assert.deepEqual(trouble, [], name);
}

// Charts are drawn when their width is known, which is before the second frame.
function drawn(page) {
  return page.evaluate(
    () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
  );
}

function captionOf(page, section) {
  return page.locator(`#${section} figcaption`).innerText();
}

function viewOf(page) {
  return page
    .locator("svg.timeline")
    .evaluate((drawing) => ({from: Number(drawing.dataset.from), to: Number(drawing.dataset.to)}));
}

function columnOf(page, place) {
  return page.locator(`table.rules tbody tr:not(.note) > :nth-child(${place})`).allInnerTexts();
}

async function violationsOf(page) {
  await page.evaluate(axe.source);
  const {violations} = await page.evaluate(() => window.axe.run());
  return violations.map(
    ({id, nodes}) =>
      `${id}: ${nodes
        .map((node) => node.html)
        .slice(0, 3)
        .join(" ")}`,
  );
}

const ALL_REPORTS = [
  "demo",
  "hostile",
  "empty",
  "nothing_began",
  "cut_off",
  "heavy",
  "one_worker",
  "thousand_workers",
  "ten_thousand",
];

test("every report has a test", () => {
  assert.deepEqual(readdirSync(directory).sort(), ALL_REPORTS.map((name) => `${name}.html`).sort());
});

for (const name of ALL_REPORTS) {
  test(`${name}: opens in silence, fits any width, explains every chart`, async () => {
    for (const width of [400, 1280, 3840]) {
      await open(
        name,
        async (page) => {
          for (const section of SECTIONS) {
            assert.match(await captionOf(page, section), /^[A-Z0-9].{15,}\.$/s, section);
          }
          const overflow = await page.evaluate(
            () => document.documentElement.scrollWidth - innerWidth,
          );
          assert.ok(overflow <= 0, `${overflow} pixels too wide at ${width}`);
          assert.deepEqual(await page.getByText(/undefined|NaN|\[object|null/).allInnerTexts(), []);
        },
        {viewport: {width, height: 800}},
      );
    }
  });
}

test("every chart is there with what it is made of", () =>
  open("demo", async (page) => {
    const count = (selector) => page.locator(selector).count();
    const filled = (selector) =>
      page
        .locator(selector)
        .evaluateAll((found) => found.filter((path) => path.getAttribute("d").length > 10).length);
    assert.ok((await filled("svg.timeline path[class^='fill-batch']")) >= 5, "bars");
    for (const part of [
      "critical",
      "failure",
      "steal",
      "stolen",
      "fill-failed",
      "fill-retried",
      "fill-tail",
    ]) {
      assert.equal(await filled(`svg.timeline path.${part}`), 1, part);
    }
    assert.equal(await filled("svg.timeline path.curve"), 2);
    assert.equal(await count("#gap tbody tr"), 6);
    assert.equal(await count("#utilisation tbody tr"), 8);
    assert.equal(await count("#policies tbody tr"), 7);
    assert.equal(await count("#policies tbody .fill-mean"), 6);
    assert.ok((await filled("#predictions path.point")) === 2);
    assert.ok((await count("#predictions .outlier-name")) > 0);
    assert.ok((await count("#steals td.some")) > 0);
    assert.equal(await count("table.rules tbody tr:not(.note)"), 50);
    assert.ok((await count("table.rules .sparkline")) > 40);
  }));

test("the header, the waterfall and the captions tell the same figures", () =>
  open("demo", async (page) => {
    const facts = await page.locator("#facts").innerText();
    const time = facts.match(/Time\s+(\S+\ss)/)[1];
    const rows = await page.locator("#gap tbody td.figure").allInnerTexts();
    assert.equal(rows[rows.length - 1], time);
    assert.ok((await captionOf(page, "timeline")).includes(`in ${time}`));
    assert.ok((await captionOf(page, "policies")).includes(`this run took ${time}`));
    assert.match(
      await page.locator("#outcome").innerText(),
      /384 rules: 381 passed \(1 flaky\), 2 failed, 1 skipped/,
    );
  }));

test("failures come first, with message and output", () =>
  open("demo", async (page) => {
    const statuses = await columnOf(page, 3);
    assert.deepEqual(statuses.slice(0, 5), [
      "✗ failed",
      "✗ timed out",
      "↻ flaky",
      "→ skipped",
      "✓ passed",
    ]);
    const note = page.locator("table.rules tr.note").first();
    assert.match(await note.innerText(), /exit code 3/);
    assert.ok(!(await note.locator("pre").isVisible()));
    await note.locator("summary").click();
    assert.match(await note.locator("pre").innerText(), /balance differs/);
  }));

test("nothing that a rule says becomes markup", () =>
  open("hostile", async (page) => {
    assert.equal(await page.locator("img, script:not([type]), svg[onload]").count(), 0);
    const attack = "</script><img src=x onerror=alert(1)>";
    assert.equal(await page.locator("h1").innerText(), attack);
    assert.ok((await columnOf(page, 1)).some((text) => text.includes(attack)));
    await page.locator("summary").first().click();
    assert.equal(await page.locator("pre").first().innerText(), attack);
    await page.locator("svg.timeline").press("Home");
    assert.ok(await page.locator(".tip").isVisible());
  }));

test("a log that was cut off says so", () =>
  open("cut_off", async (page) => {
    assert.match(
      await page.locator(".notice").first().innerText(),
      /The log ends before the run does/,
    );
    assert.match(await page.locator("#outcome").innerText(), /not run/);
  }));

test("without steals a sentence says why", () =>
  open("cut_off", async (page) => {
    assert.equal(await page.locator("#steals table").count(), 0);
    assert.match(await captionOf(page, "steals"), /^Nothing was stolen.*critical-path.*one queue/);
  }));

test("without scripts the page says what to do", async () => {
  await open("demo", async () => {}, {});
  const context = await browser.newContext({javaScriptEnabled: false});
  const page = await context.newPage();
  await page.goto(pathToFileURL(join(directory, "demo.html")).href);
  assert.match(await page.locator("main").innerText(), /weft report/);
  await context.close();
});

for (const [viewport, scheme] of [
  [WIDE, "light"],
  [WIDE, "dark"],
  [NARROW, "light"],
  [NARROW, "dark"],
]) {
  for (const name of ["demo", "hostile", "empty", "thousand_workers"]) {
    test(`${name}: axe finds nothing, ${scheme}, ${viewport.width} pixels`, () =>
      open(
        name,
        async (page) => {
          await page.evaluate(() =>
            document.querySelectorAll("details").forEach((each) => {
              each.open = true;
            }),
          );
          const timeline = page.locator("svg.timeline");
          if ((await timeline.count()) > 0) await timeline.focus(); // the tip is looked at, too
          assert.deepEqual(await violationsOf(page), []);
        },
        {viewport, colorScheme: scheme},
      ));
  }
}

test("keys zoom and move the timeline", () =>
  open("demo", async (page) => {
    const whole = await viewOf(page);
    const press = async (key) => {
      await page.keyboard.press(key);
      return viewOf(page);
    };
    await page.locator("svg.timeline").focus();
    const near = await press("+");
    assert.ok(Math.abs((near.to - near.from) / (whole.to - whole.from) - 0.5) < 1e-6);
    const later = await press("Shift+ArrowRight");
    assert.ok(later.from > near.from);
    const earlier = await press("Shift+ArrowLeft");
    assert.ok(earlier.from < later.from);
    const far = await press("-");
    assert.ok(far.to - far.from > near.to - near.from);
    await press("+");
    assert.deepEqual(await press("0"), whole);
    for (let i = 0; i < 40; ++i) await press("+");
    const nearest = await viewOf(page);
    assert.ok(nearest.to > nearest.from, "there is an end to zooming");
  }));

test("buttons, dragging and the wheel zoom the timeline", () =>
  open("demo", async (page) => {
    const whole = await viewOf(page);
    await page.getByRole("button", {name: "Zoom in"}).click();
    const near = await viewOf(page);
    assert.ok(near.to - near.from < whole.to - whole.from);
    await page.getByRole("button", {name: "Show all"}).click();
    assert.deepEqual(await viewOf(page), whole);
    const box = await page.locator("svg.timeline").boundingBox();
    await page.mouse.move(box.x + 300, box.y + 100);
    await page.mouse.down();
    await page.mouse.move(box.x + 600, box.y + 100, {steps: 3});
    await page.mouse.up();
    const dragged = await viewOf(page);
    assert.ok(dragged.from > whole.from && dragged.to < whole.to);
    await page.keyboard.down("Control");
    await page.mouse.wheel(0, 100);
    await page.keyboard.up("Control");
    await page.waitForFunction((span) => {
      const {from, to} = document.querySelector("svg.timeline").dataset;
      return to - from > span;
    }, dragged.to - dragged.from);
  }));

test("the wheel scrolls the page while the timeline has no focus", () =>
  open("demo", async (page) => {
    const whole = await viewOf(page);
    const box = await page.locator("svg.timeline").boundingBox();
    await page.mouse.move(box.x + 300, box.y + 100);
    await page.mouse.wheel(0, 200);
    await page.waitForFunction(() => scrollY > 0);
    assert.deepEqual(await viewOf(page), whole);
  }));

test("a pointer and the arrow keys show the details of a rule", () =>
  open("demo", async (page) => {
    const tip = page.locator(".tip");
    const box = await page.locator("svg.timeline").boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + 40);
    assert.ok(await tip.isVisible());
    for (const word of ["Status", "Batch", "Worker", "Start", "Duration", "Predicted", "Slack"]) {
      assert.ok((await tip.innerText()).includes(word), word);
    }
    await page.mouse.move(0, 0);
    assert.ok(!(await tip.isVisible()));

    await page.locator("svg.timeline").focus();
    const titles = new Set();
    for (const key of ["ArrowRight", "ArrowRight", "ArrowDown", "ArrowLeft", "End"]) {
      await page.keyboard.press(key);
      titles.add(await tip.locator(".tip-title").innerText());
      const spoken = await page.locator("#timeline [role=status]").innerText();
      assert.ok(spoken.startsWith(await tip.locator("bdi").first().innerText()));
    }
    assert.ok(titles.size >= 4, [...titles].join());
    assert.equal(await page.locator("svg.timeline .selected").count(), 1);
    await page.keyboard.press("Escape");
    assert.ok(!(await tip.isVisible()));
  }));

test("enter opens the rule in the table", () =>
  open("demo", async (page) => {
    await page.locator("svg.timeline").focus();
    const id = await page.locator(".tip bdi").first().innerText();
    await page.keyboard.press("Enter");
    assert.equal(await page.locator("#filter").inputValue(), id);
    assert.ok((await columnOf(page, 1)).some((text) => text.startsWith(id)));
  }));

test("a click and a key sort the table, both ways", () =>
  open("demo", async (page) => {
    const head = page.locator("table.rules th", {hasText: "Rule"}).first();
    await head.getByRole("button").click();
    assert.equal(await head.getAttribute("aria-sort"), "ascending");
    assert.equal((await columnOf(page, 1))[0], "b0.0");
    await head.getByRole("button").focus();
    await page.keyboard.press("Enter");
    assert.equal(await head.getAttribute("aria-sort"), "descending");
    assert.equal((await columnOf(page, 1))[0], "b8.184");
    assert.equal(await page.locator("table.rules [aria-sort]").count(), 1);

    const duration = page.locator("table.rules th", {hasText: "Duration"});
    await duration.getByRole("button").click();
    await duration.getByRole("button").click();
    const inSeconds = (text) =>
      Number.parseFloat(text) * (text.endsWith("µs") ? 1e-6 : text.endsWith("ms") ? 1e-3 : 1);
    const durations = (await columnOf(page, 4)).map(inSeconds);
    assert.equal(durations.length, 50);
    assert.deepEqual(
      durations,
      [...durations].sort((a, b) => b - a),
    );
  }));

test("the filter finds rules, and says how many", () =>
  open("demo", async (page) => {
    await page.locator("#filter").fill("B8.1");
    const ids = await columnOf(page, 1);
    assert.ok(ids.length === 50 && ids.every((id) => id.startsWith("b8.1")));
    assert.match(
      await page.locator("#rules [role=status]").innerText(),
      /^Rules 1 to 50 of 96; 288 do not match/,
    );
    await page.getByRole("button", {name: "Next"}).click();
    assert.equal((await columnOf(page, 1)).length, 46);
    await page.locator("#filter").fill("no such rule");
    assert.match(await page.locator("#rules [role=status]").innerText(), /No rule matches/);
  }));

test("the colours follow the system, and a button changes them", () =>
  open(
    "demo",
    async (page) => {
      const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      const dark = await background();
      await page.getByRole("button", {name: "Light colours"}).click();
      assert.notEqual(await background(), dark);
      await page.getByRole("button", {name: "Dark colours"}).click();
      assert.equal(await background(), dark);
    },
    {colorScheme: "dark"},
  ));

test("printed, it is light, complete and without controls", () =>
  open(
    "demo",
    async (page) => {
      const text = () => page.evaluate(() => getComputedStyle(document.body).color);
      const onDark = await text();
      await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
      await page.emulateMedia({media: "print"});
      assert.notEqual(await text(), onDark);
      const controls = page.locator("button:visible, input:visible");
      const headings = page.locator("table.rules th button:visible");
      assert.equal(await controls.count(), await headings.count());
      assert.equal(await page.locator("table.rules tbody tr:not(.note)").count(), 384);
      assert.ok(await page.getByText("balance differs").isVisible());
      await page.evaluate(() => dispatchEvent(new Event("afterprint")));
      assert.equal(await page.locator("table.rules tbody tr:not(.note)").count(), 50);
    },
    {colorScheme: "dark"},
  ));

test("ten thousand rules are a small file and a small page", () =>
  open("ten_thousand", async (page) => {
    const nodes = () => page.evaluate(() => document.querySelectorAll("*").length);
    assert.ok(statSync(join(directory, "ten_thousand.html")).size < 1_000_000);
    assert.ok((await nodes()) < 5000, `${await nodes()} elements`);
    await page.locator("svg.timeline").focus();
    for (let i = 0; i < 6; ++i) {
      await page.keyboard.press("+");
      assert.ok((await nodes()) < 5000, `${await nodes()} elements, ${i + 1} times nearer`);
    }
    // Measured, and no more: how fast depends on who else uses the machine.
    const loaded = await page.evaluate(
      () => performance.getEntriesByType("navigation")[0].loadEventEnd,
    );
    console.log(
      `ten thousand rules: loaded in ${Math.round(loaded)} ms, ${await nodes()} elements`,
    );
  }));
