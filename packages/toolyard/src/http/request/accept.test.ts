import { expect, test } from "vitest";
import { acceptedTypes } from "./accept.ts";

test.each<[accept: string | undefined, json: boolean, stream: boolean]>([
  [undefined, true, true],
  ["", true, true],
  ["*/*", true, true],
  ["*", true, true],
  ["application/json, text/event-stream", true, true],
  ["TEXT/EVENT-STREAM , Application/JSON;charset=utf-8", true, true],
  ["application/json", true, false],
  ["application/*", true, false],
  ["text/event-stream", false, true],
  ["text/*;q=0.1", false, true],
  ["text/html, */*;q=0.1", true, true],
  ["*/*, text/event-stream;q=0", true, false],
  ["application/json;q=0.000, */*", false, true],
  ["application/*;q=0, application/json", true, false],
  ["application/json; q = 0", false, false],
  ["text/html", false, false],
  ["application/jsonp, x-application/json", false, false],
  ["text/event-stream-2", false, false],
  ["*/*;q=0", false, false],
  [",", false, false],
])("the Accept header %j permits JSON: %j, a stream: %j", (accept, json, stream) => {
  expect(acceptedTypes(accept)).toEqual({ json, stream });
});
