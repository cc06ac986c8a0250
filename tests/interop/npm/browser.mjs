// The same person in front of Chromium, without a window: `browser.mjs CHROMIUM URL`. Enters a name and a password, and
// clicks through the pages of an authorization server, up to the page of the redirect to the client.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

const MOST_PAGES = 10;

const [executablePath, url] = process.argv.slice(2);
const args = ["--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"];
args.push("--disable-component-update", "--disable-sync");
const folder = mkdtempSync(join(tmpdir(), "chromium-"));
const options = { executablePath, headless: true, chromiumSandbox: false, args };
const context = await chromium.launchPersistentContext(folder, options);
try {
  const page = context.pages()[0] ?? (await context.newPage());
  page.on("framenavigated", (frame) => console.error(frame.url().split("?")[0]));
  page.setDefaultTimeout(10_000);
  await page.goto(url);
  for (let pages = 0; (await page.locator("form").count()) > 0; pages += 1) {
    if (pages === MOST_PAGES) throw new Error(`no end after ${MOST_PAGES} pages`);
    for (const input of await page.locator("form input:visible:not([type=submit])").all()) {
      await input.fill((await input.getAttribute("type")) === "password" ? "correct horse" : "ada");
    }
    const next = page.waitForEvent("framenavigated");
    await page.locator("form [type=submit]").first().click();
    await next;
    await page.waitForLoadState("load");
  }
  console.error(await page.locator("body").innerText());
} finally {
  await context.close();
  rmSync(folder, { recursive: true, force: true });
}
