import { importExtra, type ExtraName } from "toolyard/extras";
import { datetime } from "./datetime/service.ts";
import { geocoding } from "./geocoding/service.ts";
import type { Service } from "./shared/service.ts";
import { weather } from "./weather/service.ts";
import { webSearch } from "./web-search/service.ts";

export { openService, startService, type RunningService, type Service, type ServiceOptions } from "./shared/service.ts";

/** Services that are started together, in the order of their ports. */
export const SERVICES: readonly Service[] = [datetime, webSearch, weather, geocoding];

/** Names of services in separate packages (`@toolyard/gnn`), which are started only if they are named. */
export const SERVICES_ON_REQUEST: readonly string[] = ["gnn", "library"];

/** Returns the service of a package. Rejects with a `FailError` that names the command if the extra is missing. */
export async function loadService(name: string): Promise<Service> {
  const module = await importExtra<Readonly<Record<string, Service>>>(name as ExtraName, `@toolyard/${name}/service`);
  return module[name]!;
}
