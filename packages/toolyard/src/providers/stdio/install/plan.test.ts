import { expect, test } from "vitest";
import { planInstall } from "./plan.ts";

const PLACE = { env: { HOME: "/home/ada" }, platform: "linux" } as const;

/** Returns the commands that start and download, as one line each. */
function planned(line: string): { readonly start?: string; readonly install?: string } | undefined {
  const [command = "", ...args] = line.split(" ");
  const plan = planInstall({ command, args }, PLACE);
  if (!plan) return undefined;
  const text = (words: typeof plan.install): string => (words ? [words.command, ...words.args].join(" ") : "");
  return {
    ...(plan.start && { start: text(plan.start) }),
    ...(plan.install && { install: text(plan.install) }),
  };
}

test.each([
  ["npx -y @a/b --root /x", "npx --prefer-offline --no -- @a/b --root /x", "npx --yes --package=@a/b -c exit 0"],
  ["npx -y --package=a b c", "npx --prefer-offline --no --package=a -- b c", "npx --yes --package=a -c exit 0"],
  ["npx.cmd a@latest", "npx.cmd --prefer-offline --no -- a@latest", "npx.cmd --yes --package=a@latest -c exit 0"],
  ["cmd /c npx -y a", "cmd /c npx --prefer-offline --no -- a", "cmd /c npx --yes --package=a -c exit 0"],
  [
    "C:\\node\\npx.cmd -y a",
    "C:\\node\\npx.cmd --prefer-offline --no -- a",
    "C:\\node\\npx.cmd --yes --package=a -c exit 0",
  ],
  ["npm exec -y a -- --flag", "npm exec --prefer-offline --no -- a -- --flag", "npm exec --yes --package=a -c exit 0"],
  ["npm x a", "npm x --prefer-offline --no -- a", "npm x --yes --package=a -c exit 0"],
  ["uvx mcp-server-git --repo .", "uvx --offline mcp-server-git --repo .", "uvx --from mcp-server-git python -c "],
  ["uv tool run --from a[x] b", "uv tool run --offline --from a[x] b", "uv tool run --from a[x] python -c "],
  ["uvx --with c a", "uvx --offline --with c a", "uvx --with c --from a python -c "],
  [
    "docker run -i --rm -e TOKEN --name=x mcp/github stdio",
    "docker run --pull=never -i --rm -e TOKEN --name=x mcp/github stdio",
    "docker pull mcp/github",
  ],
  [
    "docker run -it --platform linux/amd64 a",
    "docker run --pull=never -it --platform linux/amd64 a",
    "docker pull --platform linux/amd64 a",
  ],
  ["podman run --rm a", "podman run --pull=never --rm a", "podman pull a"],
])(
  "`%s` is started without a download, and a separate command before it downloads the packages",
  (line, start, install) => {
    expect(planned(line)).toEqual({ start, install });
  },
);

test.each([
  ["npx --prefer-online a", "npx --no --prefer-online -- a", undefined],
  ["npx --offline a", "npx --no --offline -- a", 86_400_000],
  ["npx a", "npx --prefer-offline --no -- a", 86_400_000],
  ["npx a@^1.0.0", "npx --prefer-offline --no -- a@^1.0.0", 86_400_000],
  ["npx a@1.2", "npx --prefer-offline --no -- a@1.2", 86_400_000],
  ["npx a@1.2.3", "npx --prefer-offline --no -- a@1.2.3", Infinity],
  ["npx @s/a@1.2.3-beta.1", "npx --prefer-offline --no -- @s/a@1.2.3-beta.1", Infinity],
  ["npx -p a@1.2.3 -p b c", "npx --prefer-offline --no -p a@1.2.3 -p b -- c", 86_400_000],
])(
  "starts `%s` without a download, and looks for a newer version after a time that depends on the version",
  (line, start, freshMs) => {
    const [command = "", ...args] = line.split(" ");
    expect(planned(line)).toMatchObject({ start });
    expect(planInstall({ command, args }, PLACE)?.freshMs).toBe(freshMs);
  },
);

test.each([
  ["bunx a@2 --x", "bun add --cwd {scratch} a@2"],
  ["bun x a", "bun add --cwd {scratch} a"],
  ["pipx run --spec a==1 b", "pipx run --spec a==1 python -c "],
  ["pipx run a", "pipx run --spec a python -c "],
  ["pnpm dlx a b", "pnpm dlx --package=a node -e 0"],
  ["yarn dlx -q -p a b", "yarn --cwd {scratch} add --mode=skip-build a"],
])("`%s` is downloaded before its start", (line, install) => {
  expect(planned(line)).toEqual({ install });
});

// The word after an unknown flag may be its value, and not a package.
test.each([
  "npx --unheard of a",
  "npx -c ls",
  "npx ./here",
  "uvx --unheard a",
  "docker run --pull never a",
  "bunx ./a",
  "sh -c npx a",
  "bash -lc cd /x && exec uvx a",
])("`%s` is started unchanged", (line) => {
  expect(planned(line)).toEqual({});
});

test.each(["node server.js", "npm start", "docker ps", "python -m uv", "uv run server.py", "sh -c node npx.js"])(
  "`%s` has no known downloads",
  (line) => {
    expect(planned(line)).toBeUndefined();
  },
);
