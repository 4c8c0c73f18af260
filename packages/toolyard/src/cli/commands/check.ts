import { KINDS } from "../../core/calls/kinds.ts";
import { mendBroken, tellInstalls } from "../installs.ts";
import type { Hub } from "../../hub/hub.ts";
import { settled } from "../../hub/sources/settled.ts";
import { profileCounts } from "../../core/ports/profile-counts.ts";
import { PROFILES } from "../../core/services.ts";
import { accessFindings } from "../../hub/access-findings.ts";
import { getService } from "../../kernel/start-features.ts";
import { profileText } from "../output/profile-table.ts";
import { adminFindings } from "../admin-findings.ts";
import { desktopGaps } from "../desktop-findings.ts";
import { missingEngines } from "../engine-findings.ts";
import { EXIT } from "../failure.ts";
import { print, printPainted, printJson, type Io } from "../output/io.ts";
import type { CommandAction, SharedOptions } from "../rows/command-row.ts";
import { vaultFindings } from "../sign-ins.ts";
import { showSources } from "../live/sources.ts";
import { callerPlaces } from "../hub-access/caller-places.ts";
import { SETTLED_WITHIN_MS, withHub } from "../hub-access/session.ts";
import { readTimeout } from "../hub-access/one-call.ts";
import { isHealthy, sourceText, type SourceLine } from "../output/source-table.ts";

interface Options extends SharedOptions {
  readonly timeout?: string;
}

export const run: CommandAction<Options> = (_args, options, io) =>
  withHub({ ...options, logLevel: "error", lazy: false }, io, async (toolyard, hub) => {
    await waitForSources(hub, options, io);
    if (await mendBroken(hub, options, io)) await waitForSources(hub, options, io);
    await toolyard.list({ mode: "all" });
    const lines = toolyard
      .sources()
      .map(({ source, status, ...rest }): SourceLine => ({ id: source.id, kind: source.kind, ...status, ...rest }));
    // A hub at `--url` runs on another machine, whose engines are not known.
    const sandbox = options.url === undefined ? await missingEngines(hub.config.tree.sandbox) : [];
    const desktop = options.url === undefined ? await desktopGaps(hub.config, io) : [];
    const healthy = lines.every(isHealthy) && sandbox.length === 0;
    const { files } = hub.config;
    const admins = adminFindings(hub.config.tree, await callerPlaces(hub.config, io));
    const warnings = [
      ...hub.config.warnings,
      ...(await accessFindings(hub)),
      ...admins,
      ...vaultFindings(hub.config.tree, io),
    ];
    const profiles = await profileCounts(getService(hub.services, PROFILES), hub);
    if (options.json)
      await printJson(io.stdout, { healthy, files, warnings, sources: lines, profiles, sandbox, desktop });
    else {
      await print(
        io.stdout,
        files.length === 0
          ? "No configuration file; `toolyard init` writes one."
          : `Configuration: ${files.join(", ")}`,
      );
      for (const warning of warnings) await print(io.stdout, `warning: ${warning}`);
      await printPainted(io.stdout, sourceText(lines, io, { everyStderr: false, verbose: options.verbose === true }));
      if (profiles.length > 0) await printPainted(io.stdout, profileText(profiles, io));
      for (const missing of [...sandbox, ...desktop]) await print(io.stdout, missing);
      await print(io.stdout, healthy ? "Everything answers." : "Something needs attention; see above.");
    }
    return healthy ? EXIT.ok : KINDS.unavailable.exit;
  });

/** Waits until the sources have started. Downloads have a separate limit unless `--timeout` is set. */
async function waitForSources(hub: Hub, options: Options, io: Io): Promise<void> {
  const live = showSources(hub.port, options, io);
  const quiet = tellInstalls(hub, options, io);
  try {
    if (options.timeout === undefined) await settled(hub, SETTLED_WITHIN_MS, { installs: true, lists: true });
    else await settled(hub, readTimeout(options.timeout), { lists: true });
  } finally {
    quiet();
    live.end();
  }
}
