import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../core/json/json.ts";
import { createDocument, type DocumentSource } from "./document.ts";
import { PAGE_POLICY, renderPage } from "./page.ts";

const SOURCE: DocumentSource = {
  title: "Toolyard",
  version: "1",
  basePath: "/api",
  tools: [],
  routes: [],
  hasChat: false,
  isGuarded: false,
};
const page = async (tools: readonly JsonObject[], wish = {}, source = {}): Promise<string> =>
  renderPage(await createDocument({ ...SOURCE, ...source, tools }), "http://127.0.0.1:8808", {
    filter: "",
    page: 1,
    ...wish,
  });

describe("HTML page of the description", () => {
  test("shows a tool's parameters, its description and a curl command", async () => {
    const text = await page([
      {
        name: "say",
        description: "Says it.",
        inputSchema: {
          type: "object",
          properties: { text: { type: "string", description: "What.", examples: ["it's"] }, loud: { type: "boolean" } },
          required: ["text"],
        },
      },
    ]);
    expect(text).toContain("<code>/api/tools/say</code>");
    expect(text).toContain("<td>a string</td>");
    expect(text).toContain(
      "curl http://127.0.0.1:8808/api/tools/say -H &#39;content-type: application/json&#39; " +
        "-d &#39;{&quot;text&quot;:&quot;it&#39;\\&#39;&#39;s&quot;}&#39;",
    );
  });

  test("contains no script, no external content, and no markup from a tool", async () => {
    const text = await page(
      [
        {
          name: "<script>",
          title: '"><img src=x onerror=alert(1)>',
          description: "</style><script>alert(1)</script>",
          inputSchema: { type: "object", properties: { "<b>": { description: "<i>" } } },
        },
      ],
      { filter: '"><script>' },
    );
    expect(text).not.toMatch(/<(script|img|i|b|link|iframe)\b/);
    expect(await page([])).not.toMatch(/(src|href)="(https?:)?\/\//);
  });

  test("permits only the page's own style in the content security policy", async () => {
    const style = /<style>([^]*?)<\/style>/.exec(await page([]))![1]!;
    expect(PAGE_POLICY).toContain(`style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'`);
    expect(PAGE_POLICY).toContain("default-src 'none'");
    expect(PAGE_POLICY).not.toContain("script-src");
  });

  test("splits many tools into pages, and finds one by a filter", async () => {
    const tools = Array.from({ length: 250 }, (_, at) => ({ name: `tool-${at}`, inputSchema: { type: "object" } }));
    expect((await page(tools)).match(/<details>/g)).toHaveLength(100);
    expect(await page(tools)).toContain('<a href="?filter=&amp;page=2">Next</a>');
    expect(await page(tools, { page: 99 })).toContain("Page 3 of 3");
    expect((await page(tools, { filter: "TOOL-249" })).match(/<details>/g)).toHaveLength(1);
    expect(await page(tools, { filter: "nothing" })).toContain("No operation contains these words.");
  });

  test("describes the token only if callers need one", async () => {
    expect(await page([], {}, { isGuarded: true })).toContain("Bearer $TOOLYARD_TOKEN");
    expect(await page([])).not.toContain("Bearer");
  });
});
