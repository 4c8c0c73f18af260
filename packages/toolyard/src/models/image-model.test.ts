import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { afterEach, describe, expect, test } from "vitest";
import { sendJson, startServer, type RunningServer } from "../../../../test/fixtures/http-servers.ts";
import type { ImageRequest } from "../core/ports/models.ts";
import { VERSION } from "../core/version.ts";
import { OutboundClient } from "../outbound/outbound-client.ts";
import { generateImage, type ImageMaker } from "./image-model.ts";
import { imageType } from "./image-type.ts";
import { resolveModels, type ModelsConfig } from "./options.ts";

/** A PNG with one red pixel. */
const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==",
  "base64",
);
const JPEG = Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 16, 0x4a, 0x46, 0x49, 0x46]);

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((one) => one.close()));
});

type RequestBody = Record<string, unknown>;

/** Starts a fake server of OpenAI's images API that records its requests. */
async function serve(
  answer: (response: ServerResponse, asked: RequestBody, request: IncomingMessage) => void,
): Promise<RunningServer & { readonly asked: readonly RequestBody[] }> {
  const asked: RequestBody[] = [];
  const listener: RequestListener = (request, response) => {
    let text = "";
    request
      .on("data", (chunk: Buffer) => (text += chunk.toString()))
      .on("end", () => {
        const body = text === "" ? {} : (JSON.parse(text) as RequestBody);
        if (request.method === "POST") asked.push(body);
        answer(response, body, request);
      });
  };
  const server = await startServer(listener, { path: "/v1" });
  opened.push(server);
  return Object.assign(server, { asked });
}

function maker(config: ModelsConfig, bounds: Pick<ImageMaker, "timeoutMs" | "maxBytes"> = {}): ImageMaker {
  const client = new OutboundClient({ userAgent: `toolyard/${VERSION}`, environment: {} });
  opened.push(client);
  return { providers: resolveModels(config).providers, client, ...bounds };
}

const KINDS = ["openai", "openai-compatible"] as const;

function draw(
  server: RunningServer,
  request: Partial<ImageRequest> = {},
  {
    kind = "openai-compatible" as "openai" | "openai-compatible" | "google",
    signal = new AbortController().signal,
    ...bounds
  }: {
    kind?: "openai" | "openai-compatible" | "google";
    signal?: AbortSignal;
    timeoutMs?: number;
    maxBytes?: number;
  } = {},
) {
  const providers = { mine: { kind, base_url: server.url, api_key: "sk-very-secret" } };
  return generateImage(
    "mine/dall-e-3",
    { prompt: "an otter", ...request },
    { signal, ...maker({ providers }, bounds) },
  );
}

describe.each(KINDS)("an endpoint of kind %s", (kind) => {
  test("returns the image from a base64 response", async () => {
    const server = await serve((response) =>
      sendJson(response, 200, { created: 1, data: [{ b64_json: PNG.toString("base64") }] }),
    );
    const image = await draw(server, { width: 512, height: 256 }, { kind });
    expect(image.mimeType).toBe("image/png");
    expect(Buffer.from(image.data)).toEqual(PNG);
    expect(server.seen[0]).toMatchObject({
      url: "/v1/images/generations",
      headers: { authorization: "Bearer sk-very-secret" },
    });
    expect(server.asked[0]).toMatchObject({
      model: "dall-e-3",
      prompt: "an otter",
      n: 1,
      size: "512x256",
      response_format: "b64_json",
    });
  });

  test.each([
    [
      400,
      { error: { message: "Invalid size.", type: "invalid_request_error", param: "size", code: null } },
      {},
      { kind: "invalid_params", message: expect.stringContaining("Invalid size.") as string },
    ],
    [
      401,
      {
        error: {
          message: "Incorrect API key provided: sk-very-secret.",
          type: "invalid_request_error",
          param: null,
          code: "invalid_api_key",
        },
      },
      {},
      { kind: "denied" },
    ],
    [
      429,
      { error: { message: "Rate limit reached", type: "requests", param: null, code: "rate_limit_exceeded" } },
      { "retry-after": "20" },
      { kind: "limited", retryAfterMs: 20_000 },
    ],
    [
      500,
      { error: { message: "The server had an error", type: "server_error", param: null, code: null } },
      {},
      { kind: "unavailable" },
    ],
  ])("reports the status %i once, without the key", async (status, value, headers, expected) => {
    const server = await serve((response) => sendJson(response, status, value, headers as Record<string, string>));
    const error = await draw(server, {}, { kind }).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ failure: expected });
    expect((error as Error).message).not.toContain("sk-very-secret");
    expect(server.seen).toHaveLength(1);
  });

  test.each([
    ["broken JSON", (response: ServerResponse) => void response.end('{"data": [')],
    ["JSON of another kind", (response: ServerResponse) => sendJson(response, 200, { ok: true })],
    [
      "something that is no image",
      (response: ServerResponse) =>
        sendJson(response, 200, { data: [{ b64_json: Buffer.from("<html>").toString("base64") }] }),
    ],
  ])("fails as malformed if the endpoint answers %s", async (_what, answer) => {
    const server = await serve((response) => answer(response));
    await expect(draw(server, {}, { kind })).rejects.toMatchObject({ failure: { kind: "malformed" } });
  });

  test("fails with a timeout if drawing takes longer than the time limit", async () => {
    const server = await serve(() => {});
    await expect(draw(server, {}, { kind, timeoutMs: 100 })).rejects.toMatchObject({ failure: { kind: "timeout" } });
  });

  test("aborts a response that never ends", async () => {
    const server = await serve((response) => {
      response.writeHead(200, { "content-type": "application/json" });
      const pump = (): void => {
        while (!response.destroyed && response.write("x".repeat(65_536)));
      };
      response.on("drain", pump);
      pump();
    });
    await expect(draw(server, {}, { kind, maxBytes: 200_000 })).rejects.toMatchObject({
      failure: { kind: "too_large" },
    });
  });

  test("aborts the request of a disconnected caller", async () => {
    const caller = new AbortController();
    const server = await serve(() => caller.abort());
    await expect(draw(server, {}, { kind, signal: caller.signal })).rejects.toMatchObject({
      failure: { kind: "cancelled" },
    });
  });
});

test("fetches an image from the URL that an endpoint returns", async () => {
  const server = await serve((response, _asked, request) => {
    if (request.method === "GET")
      return void response.writeHead(200, { "content-type": "application/octet-stream" }).end(JPEG);
    sendJson(response, 200, { created: 1, data: [{ url: `${server.url}/files/1.png` }] });
  });
  expect(await draw(server)).toMatchObject({ mimeType: "image/jpeg" });
  expect(server.seen.map(({ url }) => url)).toEqual(["/v1/images/generations", "/v1/files/1.png"]);
});

test.each(["http://169.254.169.254/latest/meta-data/", "file:///etc/passwd", "somewhere else on this machine"])(
  "S10: does not fetch an image from %s",
  async (named) => {
    const other = await serve((response) => void response.end(PNG));
    const url = named.includes(":") ? named : `${other.url}/1.png`;
    const server = await serve((response) => sendJson(response, 200, { data: [{ url }] }));
    await expect(draw(server)).rejects.toThrow();
    expect(other.seen).toHaveLength(0);
  },
);

test("sends a negative prompt as a parameter if the API has one, else in the prompt", async () => {
  const server = await serve((response) => sendJson(response, 200, { data: [{ b64_json: PNG.toString("base64") }] }));
  await draw(server, { negativePrompt: "people" });
  await draw(server, { negativePrompt: "people" }, { kind: "openai" });
  expect(server.asked[0]).toMatchObject({ prompt: "an otter", negative_prompt: "people" });
  expect(server.asked[1]).toMatchObject({ prompt: "an otter\n\nLeave out: people" });
  expect(server.asked[1]).not.toHaveProperty("negative_prompt");
});

test("sends Google's models the nearest aspect ratio", async () => {
  const server = await serve((response) =>
    sendJson(response, 200, { predictions: [{ mimeType: "image/png", bytesBase64Encoded: PNG.toString("base64") }] }),
  );
  const providers = { mine: { kind: "google" as const, base_url: server.url, api_key: "k" } };
  const image = await generateImage(
    "mine/imagen-4.0-generate-001",
    { prompt: "an otter", width: 1920, height: 1080 },
    { signal: new AbortController().signal, ...maker({ providers }) },
  );
  expect(image.mimeType).toBe("image/png");
  expect(server.asked[0]).toMatchObject({ instances: [{ prompt: "an otter" }], parameters: { aspectRatio: "16:9" } });
});

test.each([0, -1, 1.5, 8193])("refuses a side of %d pixels before sending a request", async (width) => {
  const server = await serve(() => {});
  await expect(draw(server, { width })).rejects.toMatchObject({ failure: { kind: "invalid_params" } });
  expect(server.seen).toHaveLength(0);
});

test("reports a provider without image models, and a provider without a key", async () => {
  const { signal } = new AbortController();
  await expect(
    generateImage(
      "anthropic/claude",
      { prompt: "x" },
      { signal, ...maker({ providers: { anthropic: { api_key: "k" } } }) },
    ),
  ).rejects.toThrow(/no image models/);
  await expect(generateImage("openai/dall-e-3", { prompt: "x" }, { signal, ...maker({}) })).rejects.toThrow(
    /OPENAI_API_KEY/,
  );
});

test.each([
  [PNG, "image/png"],
  [JPEG, "image/jpeg"],
  [Buffer.from("RIFF1234WEBPVP8 "), "image/webp"],
  [Buffer.from("<svg/>"), undefined],
  [Buffer.alloc(0), undefined],
])("detects an image by its bytes (%#)", (data, expected) => {
  expect(imageType(data)?.mimeType).toBe(expected);
});
