import { describeConfig } from "../../config/describe.ts";
import { publishedSchema } from "../../config/json-schema.ts";
import { CONFIG_SCHEMA } from "../../hub/schema.ts";
import { EXIT } from "../failure.ts";
import { print, printPainted, printJson } from "../output/io.ts";
import type { CommandAction, SharedOptions } from "../rows/command-row.ts";
import { consent } from "../input/consent.ts";
import { readSettings } from "../hub-access/settings.ts";
import { table } from "../output/table.ts";
import { Redactor } from "../../telemetry/redactor.ts";

interface Options extends SharedOptions {
  readonly schema?: boolean;
}

export const run: CommandAction<Options> = async (_args, options, io) => {
  if (options.schema) {
    await printJson(io.stdout, publishedSchema(CONFIG_SCHEMA));
    return EXIT.ok;
  }
  const unaccepted = await consent(options, io);
  const config = await readSettings(options, io);
  const redactor = new Redactor();
  redactor.addAll(config.secrets);
  // Options that are not marked as secret can still contain a secret, such as a key in a URL.
  const lines = describeConfig(config, CONFIG_SCHEMA).map((line) => ({ ...line, value: redactor.value(line.value) }));
  if (options.json) {
    await printJson(io.stdout, {
      files: config.files,
      warnings: config.warnings,
      unusable: config.unusable,
      options: lines,
    });
    return EXIT.ok;
  }
  await printPainted(
    io.stdout,
    table(
      ["option", "value", "origin", "meaning"],
      lines.map(({ path, origin, value, description = "" }) => [path, JSON.stringify(value), origin, description]),
      io,
    ),
  );
  if (unaccepted !== undefined) await print(io.stderr, `warning: ${unaccepted}`);
  for (const warning of config.warnings) await print(io.stderr, `warning: ${warning}`);
  for (const { id, reason } of config.unusable) await print(io.stderr, `warning: ${id} is left out: ${reason}`);
  return EXIT.ok;
};
