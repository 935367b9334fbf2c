import { isValidElement, lazy, Suspense, type ComponentProps, type ReactNode } from "react";

const Coloured = lazy(async () => {
  const { highlighted } = await import("./highlighter");
  return { default: ({ code, language }: { code: string; language: string }) => <>{highlighted(code, language)}</> };
});

const LANGUAGE = /language-(\S+)/;

/** Code, in colours where its language is named. */
export function Code({ className, children }: ComponentProps<"code">) {
  const language = LANGUAGE.exec(className ?? "")?.[1];
  if (!language || typeof children !== "string") return <code className={className}>{children}</code>;
  return (
    <code className={className}>
      <Suspense fallback={children}>
        <Coloured code={children} language={language} />
      </Suspense>
    </code>
  );
}

/** The language of a block of code, as it was written. */
export function languageOf(block: ReactNode): string | null {
  if (!isValidElement<{ className?: string }>(block)) return null;
  return LANGUAGE.exec(block.props.className ?? "")?.[1] ?? null;
}
