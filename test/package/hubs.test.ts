// Files for several hubs: packaging/hubs (compose, HAProxy, Prometheus) and the Helm chart, checked with the programs
// that read them.
import { spawnSync, type SpawnSyncReturns } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { parseDuration } from "../../packages/toolyard/src/core/text/duration.ts";
import { loadHubConfig } from "../../packages/toolyard/src/hub/open-hub.ts";

const ROOT = join(import.meta.dirname, "../..");
const HUBS = join(ROOT, "packaging/hubs");
const CHART = join(ROOT, "packaging/helm/toolyard");
const VARIABLES = {
  TOOLYARD_TOKEN: "token-of-this-test",
  TOOLYARD_VAULT_KEY: Buffer.alloc(32, 7).toString("base64"),
  STORE_URL: "redis://127.0.0.1:6379/0",
  HOSTNAME: "hub-1",
  POD_IP: "10.0.0.7",
};
/** Versions of Kubernetes with which the objects are compared: the oldest that the chart allows, and a recent one. */
const KUBERNETES = ["1.27", "1.33"];

const read = (path: string): string => readFileSync(path, "utf8");
const run = (command: string, args: readonly string[]): SpawnSyncReturns<string> =>
  spawnSync(command, args, { encoding: "utf8" });
const hasProgram = (command: string, ...args: string[]): boolean => run(command, args).status === 0;

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "toolyard-hubs-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

interface ComposeService extends JsonObject {
  readonly image: string;
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly ports?: readonly string[];
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly stop_grace_period?: string;
}

describe("# packaging/hubs", () => {
  const { services, volumes: declared } = parse(read(join(HUBS, "compose.yaml")), { merge: true }) as {
    readonly services: Readonly<Record<string, ComposeService>>;
    readonly volumes: JsonObject;
  };
  const hubs = Object.keys(services).filter((name) => services[name]!.image === "toolyard");

  test("HAProxy and Prometheus name every hub of compose.yaml", () => {
    expect(hubs).toHaveLength(3);
    const balanced = [...read(join(HUBS, "haproxy.cfg")).matchAll(/^ +server (\S+) (\S+):8808$/gm)];
    expect(balanced.map(([, name, host]) => [name, host])).toEqual(hubs.map((name) => [name, name]));
    const { scrape_configs: jobs } = parse(read(join(HUBS, "prometheus.yml"))) as {
      scrape_configs: { static_configs: { targets: string[] }[] }[];
    };
    expect(jobs.flatMap((job) => job.static_configs.flatMap(({ targets }) => targets))).toEqual(
      hubs.map((name) => `${name}:9464`),
    );
  });

  test("every container has a read-only file system, no capabilities, and ports on loopback only", () => {
    for (const [name, service] of Object.entries(services)) {
      expect(service, name).toMatchObject({ read_only: true, cap_drop: ["ALL"] });
      for (const port of service.ports ?? []) expect(port, name).toMatch(/^127\.0\.0\.1:/);
    }
  });

  test("every hub gets the token, the key for sign-ins and the address of the store", () => {
    for (const name of hubs)
      expect(services[name]!.environment, name).toEqual({
        TOOLYARD_TOKEN: expect.stringMatching(/^\$\{TOOLYARD_TOKEN\b/),
        TOOLYARD_VAULT_KEY: expect.stringMatching(/^\$\{TOOLYARD_VAULT_KEY:\?/),
        STORE_URL: "redis://valkey:6379/0",
      });
  });

  test("Valkey saves its data in a volume", () => {
    const { command, volumes } = services["valkey"]!;
    expect(command!.join(" ")).toContain("--appendonly yes");
    expect(volumes).toEqual(["valkey-data:/data"]);
    expect(declared).toHaveProperty("valkey-data");
  });

  test("the page about containers sets every variable without a default, for Compose and for Kubernetes", () => {
    const page = read(join(ROOT, "docs/guide/team/containers.md"));
    for (const name of ["TOOLYARD_TOKEN", "TOOLYARD_VAULT_KEY"])
      expect(page).toMatch(new RegExp(`^echo "${name}=`, "m"));
    for (const text of [page, read(join(CHART, "values.yaml"))])
      for (const name of ["TOOLYARD_TOKEN", "STORE_URL", "TOOLYARD_VAULT_KEY"])
        expect(text).toContain(`--from-literal=${name}=`);
  });

  test("the configuration of the hubs is valid, and containers stop later than a hub's drain_timeout", async () => {
    const options = { files: [join(HUBS, "toolyard.toml")], variables: VARIABLES, flags: {} };
    const { tree, warnings } = await loadHubConfig(options);
    expect(warnings).toEqual([]);
    expect(tree.store?.url).toBe(VARIABLES.STORE_URL);
    expect(tree.store?.advertise).toBe("http://hub-1:8808");
    const grace = parseDuration(tree.store!.drain_timeout!);
    for (const name of hubs)
      expect(parseDuration(services[name]!.stop_grace_period!), name).toBeGreaterThan(grace + 7000);
  });

  test("HAProxy accepts its configuration, and refuses an unknown option", ({ skip }) => {
    skip(!hasProgram("haproxy", "-v"), "HAProxy is not on this machine");
    const text = read(join(HUBS, "haproxy.cfg")).replaceAll(/(server \S+) \S+:8808/g, "$1 127.0.0.1:8808");
    const file = join(temporaryFolder(), "haproxy.cfg");
    writeFileSync(file, text);
    expect(run("haproxy", ["-c", "-f", file])).toMatchObject({ status: 0 });
    writeFileSync(file, text.replace("option redispatch", "option redispatsch"));
    expect(run("haproxy", ["-c", "-f", file])).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("redispatsch"),
    });
  });

  test("HAProxy repeats a request only if no hub can have read it", () => {
    expect(read(join(HUBS, "haproxy.cfg"))).toMatch(/^ +retry-on conn-failure$/m);
  });

  test("Prometheus accepts its configuration with the alert rules", ({ skip }) => {
    skip(!hasProgram("promtool", "--version"), "Prometheus is not on this machine");
    const folder = temporaryFolder();
    copyFileSync(join(HUBS, "prometheus.yml"), join(folder, "prometheus.yml"));
    copyFileSync(join(ROOT, "packaging/prometheus/toolyard.rules.yml"), join(folder, "toolyard.rules.yml"));
    expect(run("promtool", ["check", "config", join(folder, "prometheus.yml")])).toMatchObject({ status: 0 });
  });
});

describe("# the Helm chart's own files", () => {
  const values = parse(read(join(CHART, "values.yaml"))) as JsonObject & {
    readonly config: string;
    readonly terminationGracePeriodSeconds: number;
    readonly drainSeconds: number;
    readonly metrics: { readonly port: number };
  };

  test("the configuration in values.yaml is valid and fits the other values", async () => {
    const file = join(temporaryFolder(), "toolyard.toml");
    writeFileSync(file, values.config);
    const { tree, warnings } = await loadHubConfig({ files: [file], variables: VARIABLES, flags: {} });
    expect(warnings).toEqual([]);
    expect(tree.telemetry?.prometheus?.listen).toBe(`0.0.0.0:${values.metrics.port}`);
    expect(tree.store?.advertise).toBe("http://10.0.0.7:8808");
    const needed = parseDuration(tree.store!.drain_timeout!) + 7000 + values.drainSeconds * 1000;
    expect(values.terminationGracePeriodSeconds * 1000).toBeGreaterThan(needed);
  });

  test("the version of the application is the version of the package", () => {
    const { appVersion } = parse(read(join(CHART, "Chart.yaml"))) as { appVersion: string };
    const { version } = JSON.parse(read(join(ROOT, "packages/toolyard/package.json"))) as { version: string };
    expect(appVersion).toBe(version);
  });

  test("the schema of values knows every value, and no other", () => {
    const schema = JSON.parse(read(join(CHART, "values.schema.json"))) as { properties: object };
    expect(Object.keys(schema.properties).filter((name) => name !== "global")).toEqual(Object.keys(values));
  });
});

describe("# the Helm chart, rendered", () => {
  const hasHelm = hasProgram("helm", "version");
  const hasValidator = hasProgram("kubernetes-validate", "--version");

  beforeEach(({ skip }) => skip(!hasHelm, "Helm is not on this machine"));

  const render = (...settings: string[]): SpawnSyncReturns<string> =>
    run("helm", [
      "template",
      "team",
      CHART,
      "--kube-version",
      KUBERNETES[0]!,
      ...settings.flatMap((s) => ["--set", s]),
    ]);

  interface KubernetesObject {
    readonly kind: string;
    readonly spec: JsonObject;
  }

  function objects(...settings: string[]): readonly KubernetesObject[] {
    const { stdout, stderr } = render(...settings);
    expect(stderr).toBe("");
    return parseAllDocuments(stdout).map((document) => document.toJS() as KubernetesObject);
  }

  const ALL_OBJECTS = [
    "autoscaling.enabled=true",
    "ingress.enabled=true",
    "ingress.className=nginx",
    "ingress.tlsSecret=certificate",
    "metrics.serviceMonitor=true",
    "networkPolicy.metricsFrom[0].namespaceSelector.matchLabels.name=monitoring",
    "extraEnv[0].name=A",
    "extraEnv[0].value=b",
    "extraVolumes[0].name=scripts",
    "extraVolumes[0].configMap.name=scripts",
    "extraVolumeMounts[0].name=scripts",
    "extraVolumeMounts[0].mountPath=/scripts",
  ];

  test("helm lint reports nothing", () => {
    expect(run("helm", ["lint", "--strict", CHART])).toMatchObject({ status: 0 });
  });

  test("contains by default what several hubs need", () => {
    expect(
      objects()
        .map(({ kind }) => kind)
        .toSorted(),
    ).toEqual(["ConfigMap", "Deployment", "NetworkPolicy", "PodDisruptionBudget", "Service", "ServiceAccount"]);
  });

  test("runs each hub as non-root with a read-only file system, probes and time to stop", () => {
    const deployment = objects().find(({ kind }) => kind === "Deployment")!;
    expect(deployment.spec).toMatchObject({
      replicas: 3,
      strategy: { rollingUpdate: { maxUnavailable: 0 } },
      template: {
        spec: {
          terminationGracePeriodSeconds: 60,
          securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
          containers: [
            {
              envFrom: [{ secretRef: { name: "toolyard" } }],
              livenessProbe: { httpGet: { path: "/healthz" } },
              readinessProbe: { httpGet: { path: "/readyz" } },
              startupProbe: { httpGet: { path: "/healthz" } },
              securityContext: {
                readOnlyRootFilesystem: true,
                allowPrivilegeEscalation: false,
                capabilities: { drop: ["ALL"] },
              },
            },
          ],
        },
      },
    });
  });

  test("with autoscaling, scales by running calls and by CPU, and sets no number of hubs", () => {
    const rendered = objects("autoscaling.enabled=true");
    expect(rendered.find(({ kind }) => kind === "Deployment")!.spec).not.toHaveProperty("replicas");
    expect(rendered.find(({ kind }) => kind === "HorizontalPodAutoscaler")!.spec).toMatchObject({
      metrics: [
        { type: "Pods", pods: { metric: { name: "toolyard_calls_in_flight" } } },
        { type: "Resource", resource: { name: "cpu" } },
      ],
    });
  });

  test.each([
    ["an unknown value", ["replica=2"], "replica"],
    ["a replica count of 0", ["replicas=0"], "replicas"],
    [
      "autoscaling without a metric",
      ["autoscaling.enabled=true", "autoscaling.callsInFlight=0", "autoscaling.cpuPercent=0"],
      "autoscaling needs",
    ],
    ["a maximum below the minimum", ["autoscaling.enabled=true", "autoscaling.maxReplicas=1"], "is less than"],
  ])("refuses %s", (_, settings, message) => {
    const { status, stderr } = render(...settings);
    expect(status).toBe(1);
    expect(stderr).toContain(message);
  });

  test.each(KUBERNETES.flatMap((version) => [[version, "default values"] as const, [version, "all objects"] as const]))(
    "fits the schemas of Kubernetes %s with %s",
    (version, kind) => {
      const file = join(temporaryFolder(), "objects.yaml");
      writeFileSync(file, render(...(kind === "all objects" ? ALL_OBJECTS : [])).stdout);
      const { status, stdout, stderr } = run("kubernetes-validate", ["--strict", "-k", version, file]);
      expect(stdout + stderr).not.toMatch(/^ERROR/m);
      expect(status).toBe(0);
    },
  );

  beforeEach(({ skip, task }) => {
    skip(task.name.startsWith("fits the schemas") && !hasValidator, "kubernetes-validate is not on this machine");
  });
});
