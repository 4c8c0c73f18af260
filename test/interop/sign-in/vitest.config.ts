import { defineConfig } from "vitest/config";
import own from "../../../vitest.config.ts";

export default defineConfig({
  ...own,
  test: { ...own.test, include: ["test/interop/sign-in/sign-in.partner.ts"] },
});
