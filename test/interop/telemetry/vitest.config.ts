import { defineConfig } from "vitest/config";
import own from "../../../vitest.config.ts";

const projects = (own.test?.projects ?? []) as readonly { readonly resolve: object; readonly test: { name: string } }[];
const { resolve, test } = projects.find((project) => project.test.name !== "unit")!;
const include = ["test/interop/telemetry/*.partner.ts"];

export default defineConfig({ resolve, test: { ...test, name: "partners", include, exclude: [] } });
