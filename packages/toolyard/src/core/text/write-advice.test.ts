import { expect, test } from "vitest";
import { writeAdvice } from "./write-advice.ts";

test("of a full disk the advice is to make room, of anything else what the caller says", () => {
  expect(writeAdvice("ENOSPC", "Check who may write there.")).toBe("Make room on its disk.");
  expect(writeAdvice("EDQUOT", "Check who may write there.")).toBe("Make room on its disk.");
  expect(writeAdvice("EACCES", "Check who may write there.")).toBe("Check who may write there.");
});
