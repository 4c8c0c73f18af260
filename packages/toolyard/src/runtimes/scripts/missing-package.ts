/** Package names by module name, for modules whose package has another name. */
const PACKAGES: Readonly<Record<string, string>> = {
  PIL: "pillow",
  bs4: "beautifulsoup4",
  cv2: "opencv-python",
  dotenv: "python-dotenv",
  sklearn: "scikit-learn",
  yaml: "pyyaml",
};

const PYTHON = /ModuleNotFoundError: No module named '([\w.]+)'/u;
const NODE = /Cannot find (?:package|module) '((?:@[\w.-]+\/)?[\w-][\w.-]*)/u;

/** Returns a script's output, with advice if a package is missing. */
export function withPackageAdvice(text: string): string {
  const advice = pythonAdvice(text) ?? nodeAdvice(text);
  return advice === undefined ? text : `${text}\n${advice}`;
}

function pythonAdvice(text: string): string | undefined {
  const [, dotted] = PYTHON.exec(text) ?? [];
  if (dotted === undefined) return undefined;
  const module = dotted.split(".")[0]!;
  const name = PACKAGES[module] ?? module;
  const [bin, pip] = process.platform === "win32" ? ["Scripts", "pip.exe"] : ["bin", "pip"];
  return (
    "Install the missing package next to the script or in the tools folder, where it is found " +
    `automatically: \`python3 -m venv .venv && .venv/${bin}/${pip} install ${name}\`. \`toolyard ` +
    "prepare` installs the packages that a header or a `requirements.txt` names."
  );
}

function nodeAdvice(text: string): string | undefined {
  const [, name] = NODE.exec(text) ?? [];
  if (name === undefined) return undefined;
  return (
    `Install it in the script's folder: \`npm install ${name}\`. \`toolyard prepare\` installs the ` +
    "packages that a `package.json` names."
  );
}
