import { lazy, Suspense, type ComponentProps } from "react";

const Coloured = lazy(async () => {
  const { highlighted } = await import("./highlighter");
  return { default: ({ code, language }: { code: string; language: string }) => <>{highlighted(code, language)}</> };
});

/** Code, in colours where its language is named. */
export function Code({ className, children }: ComponentProps<"code">) {
  const language = /language-(\S+)/.exec(className ?? "")?.[1];
  if (!language || typeof children !== "string") return <code className={className}>{children}</code>;
  return (
    <code className={className}>
      <Suspense fallback={children}>
        <Coloured code={children} language={language} />
      </Suspense>
    </code>
  );
}
