import { defineConfig } from "vitest/config";
import own from "../../../vitest.config.ts";

/** `PARTNER_TESTS` names the files, separated by commas. */
const files = (process.env["PARTNER_TESTS"] ?? "sign-in,clients").split(",");
const projects = (own.test?.projects ?? []) as readonly { readonly resolve: object; readonly test: { name: string } }[];
const { resolve, test } = projects.find((project) => project.test.name !== "unit")!;
const include = files.map((name) => `test/interop/sign-in/${name}.partner.ts`);

export default defineConfig({ resolve, test: { ...test, name: "partners", include, exclude: [] } });
