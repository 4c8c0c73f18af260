import { expect, test } from "vitest";
import { writeAdvice } from "./write-advice.ts";

test("advises to free space for a full disk, and returns the caller's advice for any other error", () => {
  expect(writeAdvice("ENOSPC", "Check who may write there.")).toBe("Free space on its disk.");
  expect(writeAdvice("EDQUOT", "Check who may write there.")).toBe("Free space on its disk.");
  expect(writeAdvice("EACCES", "Check who may write there.")).toBe("Check who may write there.");
});
