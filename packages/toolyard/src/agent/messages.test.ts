import type * as ai from "ai";
import { expectTypeOf, expect, test } from "vitest";
import type * as own from "./messages.ts";

test("the message types of the agent and of the AI SDK are assignable to each other", () => {
  expectTypeOf<ai.ModelMessage>().toExtend<own.ModelMessage>();
  expectTypeOf<own.ModelMessage>().toExtend<ai.ModelMessage>();
  expectTypeOf<ai.UserContent>().toExtend<own.UserContent>();
  expectTypeOf<own.UserContent>().toExtend<ai.UserContent>();
  expectTypeOf<ai.ToolResultPart["output"]>().toExtend<own.ToolResultOutput>();
  expectTypeOf<own.ToolResultOutput>().toExtend<ai.ToolResultPart["output"]>();
  expectTypeOf<{ role: "bystander"; content: string }>().not.toExtend<own.ModelMessage>();
  // The compiler checks this file (`npm run types`); there is nothing to run.
  expect(true).toBe(true);
});
