# Installs `thru` for this user on Windows, from a release:
#
#     irm https://github.com/throughline/throughline/releases/latest/download/install.ps1 | iex
#
# $env:THRU_VERSION names another release, $env:THRU_FROM a folder with archives, $env:THRU_PREFIX another place than
# %LOCALAPPDATA%\Programs\thru. The folder is put on the user's PATH.
$ErrorActionPreference = 'Stop'
$repository = 'https://github.com/throughline/throughline'
$prefix = if ($env:THRU_PREFIX) { $env:THRU_PREFIX } else { Join-Path $env:LOCALAPPDATA 'Programs\thru' }
if (-not [Environment]::Is64BitOperatingSystem) { throw 'There is no release for 32-bit Windows.' }
$target = 'x86_64-pc-windows-msvc'

$source = if ($env:THRU_VERSION) { "$repository/releases/download/v$env:THRU_VERSION" } else { "$repository/releases/latest/download" }
function Get-Asset($name, $to) {
    if ($env:THRU_FROM) { Copy-Item (Join-Path $env:THRU_FROM $name) $to }
    else { Invoke-WebRequest -UseBasicParsing "$source/$name" -OutFile $to }
}

$work = Join-Path ([IO.Path]::GetTempPath()) ([IO.Path]::GetRandomFileName())
New-Item -ItemType Directory $work | Out-Null
try {
    $version = $env:THRU_VERSION
    if (-not $version) {
        Get-Asset 'VERSION' "$work\VERSION"
        $version = (Get-Content "$work\VERSION" -Raw).Trim()
    }
    $name = "thru-$version-$target"
    Get-Asset "$name.zip" "$work\$name.zip"
    Get-Asset "$name.zip.sha256" "$work\$name.zip.sha256"
    $wanted = ((Get-Content "$work\$name.zip.sha256" -Raw) -split ' ')[0]
    $found = (Get-FileHash "$work\$name.zip" -Algorithm SHA256).Hash.ToLower()
    if ($found -ne $wanted) { throw "The archive $name.zip does not have the checksum that it should have; nothing was installed." }
    Expand-Archive "$work\$name.zip" $work
    New-Item -ItemType Directory -Force $prefix | Out-Null
    # A program that runs cannot be overwritten, but it can be renamed.
    $program = Join-Path $prefix 'thru.exe'
    Remove-Item "$program.old" -ErrorAction SilentlyContinue
    if (Test-Path $program) { Move-Item $program "$program.old" }
    Copy-Item "$work\$name\thru.exe" $program
    Copy-Item "$work\$name\completions\_thru.ps1" $prefix
    $config = Join-Path $env:APPDATA 'throughline'
    New-Item -ItemType Directory -Force $config | Out-Null
    Set-Content -NoNewline (Join-Path $config 'installed-by') "install.ps1 $program`n"
    $path = [Environment]::GetEnvironmentVariable('Path', 'User')
    if (($path -split ';') -notcontains $prefix) {
        [Environment]::SetEnvironmentVariable('Path', "$path;$prefix", 'User')
        Write-Output "Put $prefix on your PATH; new terminals see it."
    }
    Write-Output "Installed thru ${version}: $program"
    Write-Output 'Next: thru up'
}
finally { Remove-Item -Recurse -Force $work }
