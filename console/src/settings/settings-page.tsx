import { usePath } from "../router";
import { Page } from "../parts/page";
import { BrowserPart } from "./browser-part";
import { KeysPart } from "./keys-part";
import { ModelPart } from "./model-part";
import { ProjectsPart } from "./projects-part";
import { UsagePart } from "./usage-part";

const PARTS = [
  ["/settings", "Projects"],
  ["/settings/keys", "API keys"],
  ["/settings/model", "Model"],
  ["/settings/usage", "Usage"],
  ["/settings/browser", "Browser"],
] as const;

const SHOWN: Record<string, () => React.JSX.Element> = {
  "/settings/keys": KeysPart,
  "/settings/model": ModelPart,
  "/settings/usage": UsagePart,
  "/settings/browser": BrowserPart,
};

export function SettingsPage() {
  const Part = SHOWN[usePath()] ?? ProjectsPart;
  return (
    <Page title="Settings" parts={PARTS}>
      <Part />
    </Page>
  );
}
