// The person in front of a browser, as a program that `BROWSER` names: `person.mjs URL`. Follows the pages of an
// authorization server, fills in their forms, and ends with the page of the redirect to the client.

const MOST_PAGES = 20;

/** The cookies of each host, by path and name. Ports do not matter to cookies (RFC 6265, section 8.5). */
const cookies = new Map();

function keep(url, response) {
  const path = url.pathname.slice(0, url.pathname.lastIndexOf("/")) || "/";
  for (const line of response.headers.getSetCookie()) {
    const [pair, ...attributes] = line.split(/;\s*/);
    const [name] = pair.split("=", 1);
    const of = (key) => {
      const found = attributes.find((text) => text.toLowerCase().startsWith(`${key}=`));
      return found?.slice(key.length + 1);
    };
    const place = of("path") ?? path;
    const isOver = of("max-age") === "0" || Date.parse(of("expires")) < Date.now();
    const key = JSON.stringify([url.hostname, place, name]);
    if (isOver) cookies.delete(key);
    else cookies.set(key, pair);
  }
}

/** The cookies for a URL: those of its host at its path, or above it. */
function cookie(url) {
  const isFor = (key) => {
    const [host, path] = JSON.parse(key);
    const below = url.pathname === path || url.pathname.startsWith(path.endsWith("/") ? path : `${path}/`);
    return host === url.hostname && below;
  };
  return [...cookies].filter(([key]) => isFor(key)).map(([, pair]) => pair).join("; ");
}

async function open(url, form) {
  const headers = { accept: "text/html", cookie: cookie(url) };
  const response = await fetch(url, { method: form ? "POST" : "GET", headers, body: form, redirect: "manual" });
  keep(url, response);
  console.error(`${form ? "POST" : "GET"} ${url.origin}${url.pathname}: ${response.status}`);
  return response;
}

const references = { quot: '"', "#39": "'", lt: "<", gt: ">", amp: "&" };
const plain = (text) => text.replace(/&(quot|#39|lt|gt|amp);/g, (_, name) => references[name]);

function attribute(tag, name) {
  const found = tag.match(new RegExp(`\\s${name}="([^"]*)"`, "i"));
  return found ? plain(found[1]) : undefined;
}

/** The first form of a page, with what a person would enter; none on a page that asks for nothing. */
function filled(url, page) {
  const form = page.match(/<form\b[\s\S]*?<\/form>/i)?.[0];
  if (form === undefined) return undefined;
  const body = new URLSearchParams();
  for (const [tag] of form.matchAll(/<input\b[^>]*>/gi)) {
    const typed = attribute(tag, "type") === "password" ? "correct horse" : "ada";
    body.append(attribute(tag, "name"), attribute(tag, "value") || typed);
  }
  return { url: new URL(attribute(form, "action") ?? url.href, url), body };
}

let url = new URL(process.argv[2]);
let form;
for (let pages = 0; pages < MOST_PAGES; pages += 1) {
  const response = await open(url, form);
  if (response.status >= 300 && response.status < 400) {
    url = new URL(response.headers.get("location"), url);
    form = undefined;
    continue;
  }
  const page = await response.text();
  const next = filled(url, page);
  if (next === undefined) {
    console.error(page.replace(/<style[\s\S]*?<\/style>|<[^>]*>/g, " ").replace(/\s+/g, " ").trim());
    process.exit(response.ok ? 0 : 1);
  }
  ({ url, body: form } = next);
}
throw new Error(`no end after ${MOST_PAGES} pages`);
