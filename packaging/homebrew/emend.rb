class Emend < Formula
  desc "File editing for MCP clients that lands where it was meant, or not at all"
  homepage "@REPOSITORY@"
  version "@VERSION@"
  license any_of: ["MIT", "Apache-2.0"]

  on_macos do
    #@IF aarch64-apple-darwin
    on_arm do
      url "@URL@"
      sha256 "@SHA256@"
    end
    #@END
    #@IF x86_64-apple-darwin
    on_intel do
      url "@URL@"
      sha256 "@SHA256@"
    end
    #@END
  end

  on_linux do
    #@IF aarch64-unknown-linux-gnu
    on_arm do
      url "@URL@"
      sha256 "@SHA256@"
    end
    #@END
    #@IF x86_64-unknown-linux-gnu
    on_intel do
      url "@URL@"
      sha256 "@SHA256@"
    end
    #@END
  end

  def install
    bin.install "emend"
    generate_completions_from_executable(bin/"emend", "completions")
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/emend --version")
  end
end
